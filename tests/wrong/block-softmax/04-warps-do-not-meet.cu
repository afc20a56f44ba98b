// Wrong: the shuffles end at the warp, and the warps never meet.

constexpr int THREADS = 128;

__device__ float warpMax(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

__device__ float warpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__global__ void softmax(const float* x, float* y, int columns) {
  const int tid = threadIdx.x;
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = warpMax(m);

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c] - m);
  sum = warpSum(sum);

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
