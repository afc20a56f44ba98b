#include "kernel.h"

KERNEL _Z4lookPfi(void** given, FakeLaunch*) {
  float* y = argument<float*>(given, 0);
  for (int i = 0; i < argument<int>(given, 1); ++i) y[i] = y[i] != y[i] ? 1.0f : 0.0f;
}
