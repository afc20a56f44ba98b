// Right: one thread a row; the sum is rescaled only when a value raises the maximum, which is seldom.

constexpr int THREADS = 96;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float value = in[c];
    if (value > m) {
      l = l * expf(m - value) + 1.0f;
      m = value;
    } else if (value != -INFINITY) {
      l += expf(value - m);
    }
  }

  const float scale = 1.0f / l;
  for (int c = 0; c < columns; ++c) y[row * columns + c] = expf(in[c] - m) * scale;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
