// Wrong: one thread does all rows, and the sum is set to 0 once only.

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;

    float m = -INFINITY;
    for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c]);
    for (int c = 0; c < columns; ++c) sum += expf(in[c] - m);
    for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / sum;
  }
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<1, 1>>>(x, y, rows, columns);
}
