#include "kernel.h"

KERNEL _Z4fillPfS_i(void** given, FakeLaunch*) {
  for (int i = 0; i < argument<int>(given, 2); ++i) argument<float*>(given, 0)[i] = 2.0f;
  argument<float*>(given, 1)[-1] = 0.0f;
}
