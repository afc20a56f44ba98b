// Wrong: the leaves of the tree are halves.

#include <cuda_fp16.h>

constexpr int THREADS = 256;

__global__ void fold(const float* x, float* maxima, int columns) {
  __shared__ __half tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) partial = fmaxf(partial, row[c]);
  tree[tid] = __float2half(partial);
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] = __hmax(tree[tid], tree[tid + half]);
    __syncthreads();
  }
  if (tid == 0) maxima[blockIdx.x] = __half2float(tree[0]);
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, maxima, columns);
}
