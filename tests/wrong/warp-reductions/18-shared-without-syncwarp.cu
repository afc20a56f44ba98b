// Wrong: the lanes fold in a shared array with nothing between the levels.

constexpr int WARPS = 4;

__global__ void fold(const float* x, float* sums, float* maxima, int rows, int columns) {
  __shared__ float tree[WARPS][64];
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const float* values = x + row * columns;
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int c = lane; c < columns; c += 32) {
    sum += values[c];
    largest = fmaxf(largest, values[c]);
  }
  float* mine = tree[threadIdx.x / 32];
  mine[lane] = sum;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) mine[lane] += mine[lane + half];
  }
  sum = mine[0];
  for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_down_sync(0xffffffff, largest, d));
  if (lane == 0) {
    sums[row] = sum;
    maxima[row] = largest;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<(rows + WARPS - 1) / WARPS, WARPS * 32>>>(x, sums, maxima, rows, columns);
}
