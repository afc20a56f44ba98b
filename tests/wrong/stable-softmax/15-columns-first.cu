// Wrong: the values are addressed as if a column were contiguous.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row;
  float* out = y + row;

  float m = -INFINITY;
  for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c * rows]);

  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(in[c * rows] - m);

  for (int c = 0; c < columns; ++c) out[c * rows] = expf(in[c * rows] - m) / sum;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
