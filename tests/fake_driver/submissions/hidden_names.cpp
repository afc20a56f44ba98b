#include "kernel.h"

KERNEL _ZN36_GLOBAL__N__81c2f8b8_4_k_cu_69aa315b5firstEPfi(void** given, FakeLaunch*) {
  for (int i = 0; i < argument<int>(given, 1); i += 2) argument<float*>(given, 0)[i] = 1.0f;
}

KERNEL _Z6secondPfi(void** given, FakeLaunch*) {
  for (int i = 1; i < argument<int>(given, 1); i += 2) argument<float*>(given, 0)[i] = 2.0f;
}
