// Warp collectives. Every lane writes the bits of its results, one row a result. T picks the kernel.
#include <cuda_fp16.h>

constexpr unsigned FULL = 0xffffffffu;

__device__ void put(float* out, int row, unsigned bits) { out[row * 64 + threadIdx.x] = __uint_as_float(bits); }

// Rows: for every width 32, 16, 8, 4, 2, 1 and every delta 0 to 32: index, up, down, xor.
__global__ void shuffles(const float* in, float* out) {
  const int value = (int)in[threadIdx.x];
  int row = 0;
  for (int width = 32; width >= 1; width /= 2) {
    for (int delta = 0; delta <= 32; ++delta) {
      put(out, row++, __shfl_sync(FULL, value, delta, width));
      put(out, row++, __shfl_up_sync(FULL, value, delta, width));
      put(out, row++, __shfl_down_sync(FULL, value, delta, width));
      put(out, row++, __shfl_xor_sync(FULL, value, delta, width));
    }
  }
}

__global__ void types(const float* in, float* out) {
  const int i = threadIdx.x;
  const float x = in[i];
  put(out, 0, __float_as_uint(__shfl_xor_sync(FULL, x, 5)));
  put(out, 1, __float_as_uint((float)__shfl_xor_sync(FULL, (double)x + 0x1p-30, 5)));
  put(out, 2, (unsigned)(__shfl_xor_sync(FULL, (long long)x << 33, 5) >> 33));
  put(out, 3, (unsigned)(__shfl_xor_sync(FULL, (unsigned long long)x << 33, 5) >> 33));
  put(out, 4, __half2int_rn(__shfl_xor_sync(FULL, __float2half(x), 5)));
  put(out, 5, __half2int_rn(__shfl_xor_sync(FULL, __floats2half2_rn(0, x), 5).y));
  const char small = (char)x;
  put(out, 6, __shfl_xor_sync(FULL, small, 5));  // promoted to int
}

// 48 threads: the second warp has 16 lanes.
__global__ void votes(const float* in, float* out) {
  const int lane = threadIdx.x % 32;
  const int value = (int)in[threadIdx.x];
  put(out, 0, __ballot_sync(FULL, value & 1));
  put(out, 1, __any_sync(FULL, lane == 3));
  put(out, 2, __all_sync(FULL, value >= 0));
  put(out, 3, __all_sync(FULL, lane != 3));
  put(out, 4, __match_any_sync(FULL, value % 5));
  int all;
  put(out, 5, __match_all_sync(FULL, 7ll, &all));
  put(out, 6, all);
  put(out, 7, __match_all_sync(FULL, value, &all));
  put(out, 8, all);
  put(out, 9, __reduce_add_sync(FULL, value));
  put(out, 10, __reduce_min_sync(FULL, value - 40));
  put(out, 11, __reduce_max_sync(FULL, (unsigned)value));
  put(out, 12, __reduce_and_sync(FULL, (unsigned)value | 64u));
  put(out, 13, __reduce_or_sync(FULL, (unsigned)value));
  put(out, 14, __reduce_xor_sync(FULL, (unsigned)value));
  put(out, 15, __syncthreads_count(value % 3 == 0));
  put(out, 16, __syncthreads_or(value == 47) != 0);
  put(out, 17, __syncthreads_and(value < 47) != 0);
}

// Two halves of a warp, in different branches, at the same time.
__global__ void halves(const float* in, float* out) {
  const int lane = threadIdx.x % 32;
  float x = in[threadIdx.x];
  if (lane < 16) {
    for (int d = 8; d > 0; d /= 2) x += __shfl_xor_sync(0x0000ffffu, x, d);
  } else {
    for (int d = 8; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(0xffff0000u, x, d));
    __syncwarp(0xffff0000u);
  }
  put(out, 0, __float_as_uint(x));
  put(out, 1, __popc(__activemask()) > 0);
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  if (T == 0) shuffles<<<1, 64>>>(qkv, attnOut);
  if (T == 1) types<<<1, 64>>>(qkv, attnOut);
  if (T == 2) votes<<<1, 48>>>(qkv, attnOut);
  if (T == 3) halves<<<1, 64>>>(qkv, attnOut);
}
