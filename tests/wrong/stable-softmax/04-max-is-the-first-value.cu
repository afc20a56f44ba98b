// Wrong: the first value is subtracted, not the largest.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = in[0];

  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(in[c] - m);

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / sum;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
