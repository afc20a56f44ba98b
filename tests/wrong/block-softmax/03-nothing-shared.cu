// Wrong: maximum and sum stay in the thread that computed them.

constexpr int THREADS = 128;

__global__ void softmax(const float* x, float* y, int columns) {
  const int tid = threadIdx.x;
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c] - m);

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
