// Wrong: m starts from the first value, l from 0: exp(0) = 1 is lost.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = in[0];
  float l = 0.0f;
  for (int c = 1; c < columns; ++c) {
    if (in[c] == -INFINITY) continue;
    const float newM = fmaxf(m, in[c]);
    const float alpha = expf(m - newM);
    l = alpha * l + expf(in[c] - newM);
    m = newM;
  }

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
