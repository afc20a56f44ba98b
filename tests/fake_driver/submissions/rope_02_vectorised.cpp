#include "kernel.h"

KERNEL _Z11rotateQuadsPfPKfS1_i(void** given, FakeLaunch*) {
  const int half = DH / 2, heads = HQ + HKV, rows = argument<int>(given, 3) / (heads * half / 4);
  for (int row = 0; row < rows; ++row) {
    const float *c = argument<const float*>(given, 1) + row * half, *s = argument<const float*>(given, 2) + row * half;
    for (int head = 0; head < heads; ++head) {
      float* low = argument<float*>(given, 0) + size_t(row) * QKV_OUT + head * DH;
      float* high = low + half;
      for (int i = 0; i < half; ++i) {
        const float a = low[i], b = high[i];
        low[i] = a * c[i] - b * s[i];
        high[i] = b * c[i] + a * s[i];
      }
    }
  }
}
