#include "block.h"
#include "kernel.h"

KERNEL _Z11swigluTiledPKfS0_S0_Pfi(void** given, FakeLaunch*) {
  const float *gate = argument<const float*>(given, 1), *up = argument<const float*>(given, 2);
  for (int row = 0; row < argument<int>(given, 4); ++row) {
    const float* x = argument<const float*>(given, 0) + size_t(row) * D;
    for (int column = 0; column < F; ++column) {
      const float z = dot(x, gate + size_t(column) * D, D);
      argument<float*>(given, 3)[size_t(row) * F + column] =
          z / (1 + std::exp(-z)) * dot(x, up + size_t(column) * D, D);
    }
  }
}
