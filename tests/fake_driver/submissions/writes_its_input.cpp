#include "kernel.h"

KERNEL _Z5spoilPKfPfi(void** given, FakeLaunch*) {
  for (int i = 0; i < argument<int>(given, 2); ++i) argument<float*>(given, 1)[i] = argument<float*>(given, 0)[i];
  argument<float*>(given, 0)[D - 1] = 0.0f;
}
