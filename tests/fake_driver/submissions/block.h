// What the stand-ins of our kernels compute with. The constants are the contract's.
#pragma once
#include <cmath>
#include <cstddef>

inline float dot(const float* a, const float* b, int n) {
  float parts[16] = {};
  for (int i = 0; i < n; ++i) parts[i % 16] += a[i] * b[i];
  float sum = 0;
  for (float part : parts) sum += part;
  return sum;
}

inline void norm(const float* x, const float* weight, float* y, int rows) {
  for (int row = 0; row < rows; ++row, x += D, y += D) {
    double squares = 0;
    for (int i = 0; i < D; ++i) squares += double(x[i]) * x[i];
    const double scale = 1 / std::sqrt(squares / D + RMS_EPS);
    for (int i = 0; i < D; ++i) y[i] = float(x[i] * scale * weight[i]);
  }
}
