// Wrong: the division is by the maximum, not by the sum.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = -INFINITY;
  for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c]);

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / m;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
