#include "kernel.h"

namespace {
struct Work {
  int n;
  const float* x;
  float factor;
  float* y;
};
}  // namespace

PARAMETERS(_Z5times4Work, sizeof(Work))

KERNEL _Z5times4Work(void** given, FakeLaunch*) {
  const Work& work = argument<Work>(given, 0);
  for (int i = 0; i < work.n; ++i) work.y[i] = work.x[i] * work.factor;
}
