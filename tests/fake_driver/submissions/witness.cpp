// y[0]: 1 where every output was NaN. y[1]: calls of this module. y[2]: bytes that the host set since the last
// launch. y[3]: the first input.
#include "kernel.h"

static int calls = 0;

KERNEL _Z4lookPKfPfi(void** given, FakeLaunch* launch) {
  const int n = argument<int>(given, 2);
  float* y = argument<float*>(given, 1);
  bool clean = true;
  for (int i = 0; i < n; ++i) clean = clean && y[i] != y[i];
  for (int i = 0; i < n; ++i) y[i] = 0;
  y[0] = clean ? 1.0f : 0.0f;
  y[1] = float(++calls);
  y[2] = float(launch->written);
  y[3] = argument<const float*>(given, 0)[0];
  launch->ms = 0.5;
}
