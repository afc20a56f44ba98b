// Wrong: each warp folds its lanes, and nobody folds the warps.

constexpr int THREADS = 128;

__global__ void fold(const float* x, float* sums, int columns) {
  const float* row = x + blockIdx.x * columns;
  float partial = 0.0f;
  for (int c = threadIdx.x; c < columns; c += THREADS) partial += row[c];
  for (int d = 16; d > 0; d /= 2) partial += __shfl_down_sync(0xffffffff, partial, d);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial;
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, sums, columns);
}
