// Wrong: the merge computes the common maximum and does not store it.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float maxima[THREADS];
  __shared__ float sums[THREADS];
  const int tid = threadIdx.x;
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = tid; c < columns; c += THREADS) {
    if (in[c] == -INFINITY) continue;
    const float newM = fmaxf(m, in[c]);
    l = l * expf(m - newM) + expf(in[c] - newM);
    m = newM;
  }

  maxima[tid] = m;
  sums[tid] = l;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) {
      const float newM = fmaxf(maxima[tid], maxima[tid + half]);
      if (newM != -INFINITY) {
        const float own = sums[tid] * expf(maxima[tid] - newM);
        const float other = sums[tid + half] * expf(maxima[tid + half] - newM);
        sums[tid] = own + other;
      }
    }
    __syncthreads();
  }

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - maxima[0]) / sums[0];
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
