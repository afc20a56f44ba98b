// Wrong: warp 0 hands its own sum to the block: the partial sums of the others are lost.

constexpr int THREADS = 128;

__device__ float warpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ float blockMax(float value, float* tree) {
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = tree[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = blockMax(m, tree);

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c] - m);
  sum = warpSum(sum);
  if (tid == 0) tree[0] = sum;
  __syncthreads();
  sum = tree[0];

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
