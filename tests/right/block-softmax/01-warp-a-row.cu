// Right: a warp owns a row, four rows a block, and shuffles are all the communication there is.

constexpr int WARP = 32;
constexpr int ROWS = 4;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * ROWS + threadIdx.y;
  if (row >= rows) return;  // the whole warp
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += WARP) m = fmaxf(m, in[c]);
  for (int step = WARP / 2; step > 0; step /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, step));

  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += WARP) sum += expf(in[c] - m);
  for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);

  for (int c = threadIdx.x; c < columns; c += WARP) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + ROWS - 1) / ROWS, dim3(WARP, ROWS)>>>(x, y, rows, columns);
}
