// Wrong: each warp folds its lanes, and nobody folds the warps.

constexpr int THREADS = 128;

__global__ void fold(const float* x, float* maxima, int columns) {
  const float* row = x + blockIdx.x * columns;
  float partial = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += THREADS) partial = fmaxf(partial, row[c]);
  for (int d = 16; d > 0; d /= 2) partial = fmaxf(partial, __shfl_down_sync(0xffffffff, partial, d));
  if (threadIdx.x == 0) maxima[blockIdx.x] = partial;
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, maxima, columns);
}
