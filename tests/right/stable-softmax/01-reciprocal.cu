// Right: the division is a multiplication by the reciprocal of the sum, and the weights are stored on the way.

constexpr int THREADS = 32;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    const size_t begin = static_cast<size_t>(row) * columns;
    float m = x[begin];
    for (int c = 1; c < columns; ++c) m = max(m, x[begin + c]);
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      const float p = __expf(x[begin + c] - m);
      y[begin + c] = p;
      sum += p;
    }
    const float scale = 1.0f / sum;
    for (int c = 0; c < columns; ++c) y[begin + c] *= scale;
  }
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
