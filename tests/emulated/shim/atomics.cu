// Atomic functions: 4 blocks of 64 threads work on the same words. T = 0: their results. T = 1: a false assert. T = 2: __trap.
#include <cassert>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Cells {
  int sum, low, high, bits, taken;
  unsigned ticket, countdown, largest, flags, swapped;
  unsigned long long wide, widest;
  long long lowest;
  float real;
  double exact;
  half2 pair;
  half small;
  __nv_bfloat16 brain;
};

__device__ Cells cells;

__global__ void begin() {
  cells = Cells();
  cells.low = 1000;
  cells.lowest = 1000;
  cells.bits = -1;
  cells.pair = __floats2half2_rn(0, 0);
  cells.small = 0;
  cells.brain = 0;
}

__global__ void work() {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&cells.sum, i);
  atomicSub(&cells.sum, 1);
  atomicMin(&cells.low, i - 7);
  atomicMax(&cells.high, i);
  atomicAnd(&cells.bits, ~(1 << i % 31));
  atomicInc(&cells.ticket, 99);
  atomicDec(&cells.countdown, 99);
  atomicMax(&cells.largest, 0x80000000u + i);
  atomicOr(&cells.flags, 1u << i % 32);
  atomicXor(&cells.flags, 0u);
  atomicAdd(&cells.wide, 1ull << 33);
  atomicMax(&cells.widest, (unsigned long long)i << 40);
  atomicMin(&cells.lowest, (long long)-i);
  atomicAdd(&cells.real, 0.5f);
  atomicAdd_block(&cells.exact, 0.25);
  atomicAdd(&cells.pair, __floats2half2_rn(1, 2));
  atomicAdd(&cells.small, __float2half(1));
  atomicAdd(&cells.brain, __float2bfloat16(1));
  // A maximum of floats by compare and swap, as everybody writes it.
  unsigned old = atomicExch(&cells.swapped, __float_as_uint((float)(i % 64)));
  assert(__uint_as_float(old) < 64);
  int expected = cells.taken;
  while (true) {
    const int seen = atomicCAS(&cells.taken, expected, expected + 2);
    if (seen == expected) break;
    expected = seen;
  }
}

__global__ void show(float* out) {
  const float values[] = {(float)cells.sum, (float)cells.low, (float)cells.high, (float)cells.bits, (float)cells.taken,
                          (float)cells.ticket, (float)cells.countdown, (float)(cells.largest - 0x80000000u),
                          (float)(cells.flags >> 16), (float)(cells.wide >> 33), (float)(cells.widest >> 40),
                          (float)cells.lowest, cells.real, (float)cells.exact, __low2float(cells.pair),
                          __high2float(cells.pair), __half2float(cells.small), __bfloat162float(cells.brain)};
  for (int i = 0; i < 18; ++i) out[i] = values[i];
}

__global__ void wrong(int limit) {
  assert(limit > 0);
  assert(((int)threadIdx.x < limit));
}

__global__ void trap() {
  if (threadIdx.x == 5) __trap();
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  begin<<<1, 1>>>();
  if (T == 0) work<<<4, 64>>>();
  if (T == 1) wrong<<<1, 64>>>(40);
  if (T == 2) trap<<<1, 64>>>();
  show<<<1, 1>>>(attnOut);
}
