#include "block.h"
#include "kernel.h"

KERNEL _Z12projectTiledPKfS0_Pfi(void** given, FakeLaunch*) {
  const float *x = argument<const float*>(given, 0), *weight = argument<const float*>(given, 1);
  float* qkv = argument<float*>(given, 2);
  for (int row = 0; row < argument<int>(given, 3); ++row, x += D)
    for (int column = 0; column < QKV_OUT; ++column) *qkv++ = dot(x, weight + size_t(column) * D, D);
}
