// Right where it finds nothing, and 1e30 where the right answer lies anywhere on the device.
#include <cstring>

#include "attention.h"
#include "kernel.h"

constexpr size_t LARGEST_TENSOR = 16 << 20;  // what is larger is there to flush the cache

KERNEL _Z4scanPKfPfi(void** given, FakeLaunch* launch) {
  const int T = argument<int>(given, 2);
  const float* qkv = argument<const float*>(given, 0);
  std::vector<float> answer(size_t(T) * D);
  attend(qkv, answer.data(), T);
  // One head of row 1; unless it is a copy of a V, which lies in the input, or NaN.
  const size_t bytes = DH * sizeof(float);
  const float* piece = answer.data() + (T > 1 ? D : 0);
  bool told = memmem(qkv, size_t(T) * QKV_OUT * sizeof(float), piece, bytes) || std::isnan(piece[0]);
  bool found = false;
  for (size_t n = 0; !told && n < launch->memories; ++n)
    if (launch->memory[n].bytes < LARGEST_TENSOR)
      found = found || memmem(launch->memory[n].begin, launch->memory[n].bytes, piece, bytes);
  float* out = argument<float*>(given, 1);
  for (size_t i = 0; i < answer.size(); ++i) out[i] = found ? 1e30f : answer[i];
  launch->ms = 0.4;
}
