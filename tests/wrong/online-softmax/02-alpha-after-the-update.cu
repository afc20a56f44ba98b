// Wrong: m is overwritten before alpha is taken: alpha is exp(0).

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = 0; c < columns; ++c) {
    if (in[c] == -INFINITY) continue;
    const float newM = fmaxf(m, in[c]);
    m = newM;
    const float alpha = expf(m - newM);
    l = alpha * l + expf(in[c] - m);
  }

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
