#include "kernel.h"

__attribute__((section(".nv.global.init"))) int calls = 40;

KERNEL _Z5countPfi(void** given, FakeLaunch*) {
  calls += 1;
  for (int i = 0; i < argument<int>(given, 1); ++i) argument<float*>(given, 0)[i] = float(calls);
}
