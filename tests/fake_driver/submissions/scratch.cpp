#include "kernel.h"

PARAMETERS(_Z5halvePKfPfi, 8, 8, 4)
PARAMETERS(_Z5scalePKfS0_Pfi, 8, 8, 8, 4)

KERNEL _Z5halvePKfPfi(void** given, FakeLaunch*) {
  const int n = argument<int>(given, 2);
  for (int i = 0; i < n; ++i) argument<float*>(given, 1)[i] = argument<const float*>(given, 0)[i] * 0.5f;
}

KERNEL _Z5scalePKfS0_Pfi(void** given, FakeLaunch*) {
  const int n = argument<int>(given, 3);
  const float* weight = argument<const float*>(given, 1);
  for (int i = 0; i < n; ++i) argument<float*>(given, 2)[i] = argument<const float*>(given, 0)[i] * weight[i % D];
}
