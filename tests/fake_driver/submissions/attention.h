// Causal grouped-query attention in float, for the stand-ins of kernels that compute it.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

constexpr int HEADS = 8, GROUP = 4, DH = 64, D = 512, QKV_OUT = 768, K_COLUMN = 512, V_COLUMN = 640;

inline void attend(const float* qkv, float* out, int T) {
  std::vector<float> p(T);
  for (int row = 0; row < T; ++row) {
    for (int head = 0; head < HEADS; ++head) {
      const float* q = qkv + size_t(row) * QKV_OUT + head * DH;
      const float* k = qkv + K_COLUMN + head / GROUP * DH;
      const float* v = qkv + V_COLUMN + head / GROUP * DH;
      float largest = -INFINITY, sum = 0, total[DH] = {};
      for (int j = 0; j <= row; ++j) {
        float parts[8] = {};
        for (int d = 0; d < DH; ++d) parts[d % 8] += q[d] * k[size_t(j) * QKV_OUT + d];
        p[j] = ((parts[0] + parts[1]) + (parts[2] + parts[3]) + (parts[4] + parts[5]) + (parts[6] + parts[7])) / 8;
        largest = std::max(largest, p[j]);
      }
      for (int j = 0; j <= row; ++j) {
        p[j] = std::exp(p[j] - largest);
        sum += p[j];
        for (int d = 0; d < DH; ++d) total[d] += p[j] * v[size_t(j) * QKV_OUT + d];
      }
      for (int d = 0; d < DH; ++d) out[size_t(row) * D + head * DH + d] = total[d] / sum;
    }
  }
}
