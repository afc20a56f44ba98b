// Causal grouped-query attention, for the stand-ins of kernels that compute it. The constants are the contract's.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

inline void attend(const float* qkv, float* out, int T) {
  std::vector<float> p(T);
  for (int row = 0; row < T; ++row) {
    for (int head = 0; head < HQ; ++head) {
      const float* q = qkv + size_t(row) * QKV_OUT + head * DH;
      const float* k = qkv + D + head / (HQ / HKV) * DH;
      const float* v = qkv + D + KV + head / (HQ / HKV) * DH;
      float largest = -INFINITY, sum = 0, total[DH] = {};
      for (int j = 0; j <= row; ++j) {
        float parts[8] = {};
        for (int d = 0; d < DH; ++d) parts[d % 8] += q[d] * k[size_t(j) * QKV_OUT + d];
        p[j] = ((parts[0] + parts[1]) + (parts[2] + parts[3]) + (parts[4] + parts[5]) + (parts[6] + parts[7])) / std::sqrt(float(DH));
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
