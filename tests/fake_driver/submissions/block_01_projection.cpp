#include "block.h"
#include "kernel.h"

PARAMETERS(_Z13projectAndAddPKfS0_S0_PfS1_ii, 8, 8, 8, 8, 8, 4, 4)

KERNEL _Z13projectAndAddPKfS0_S0_PfS1_ii(void** given, FakeLaunch*) {
  const float *x = argument<const float*>(given, 0), *weight = argument<const float*>(given, 1);
  const int rows = argument<int>(given, 5), depth = argument<int>(given, 6);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < D; ++column) {
      const size_t at = size_t(row) * D + column;
      const float sum = dot(x + size_t(row) * depth, weight + size_t(column) * depth, depth);
      argument<float*>(given, 3)[at] = sum;
      argument<float*>(given, 4)[at] = sum + argument<const float*>(given, 2)[at];
    }
  }
}
