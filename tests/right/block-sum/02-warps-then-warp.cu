// Right: shuffles in each warp, then the first warp folds the warps' results.

constexpr int THREADS = 192;

__device__ float warpSum(float value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
  return value;
}

__global__ void fold(const float* x, float* sums, int columns) {
  __shared__ float parts[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += THREADS) sum += x[blockIdx.x * columns + c];
  sum = warpSum(sum);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warpSum(lane < THREADS / 32 ? parts[lane] : 0.0f);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, sums, columns);
}
