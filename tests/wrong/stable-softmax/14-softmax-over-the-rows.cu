// Wrong: a thread owns a column and normalises it over the rows.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int c = blockIdx.x * THREADS + threadIdx.x;
  if (c >= columns) return;

  float m = -INFINITY;
  for (int row = 0; row < rows; ++row) m = fmaxf(m, x[row * columns + c]);

  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += expf(x[row * columns + c] - m);

  for (int row = 0; row < rows; ++row) y[row * columns + c] = expf(x[row * columns + c] - m) / sum;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(columns + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
