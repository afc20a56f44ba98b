// Wrong: the loop ends one column early.

constexpr int WARPS = 4;

__global__ void fold(const float* x, float* sums, float* maxima, int rows, int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const float* values = x + row * columns;
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int c = lane; c < columns - 1; c += 32) {
    sum += values[c];
    largest = fmaxf(largest, values[c]);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, d);
    largest = fmaxf(largest, __shfl_down_sync(0xffffffff, largest, d));
  }
  if (lane == 0) {
    sums[row] = sum;
    maxima[row] = largest;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<(rows + WARPS - 1) / WARPS, WARPS * 32>>>(x, sums, maxima, rows, columns);
}
