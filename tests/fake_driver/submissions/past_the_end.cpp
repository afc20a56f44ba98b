#include "kernel.h"

KERNEL _Z4fillPfi(void** given, FakeLaunch*) {
  for (int i = 0; i <= argument<int>(given, 1); ++i) argument<float*>(given, 0)[i] = 1.0f;
}
