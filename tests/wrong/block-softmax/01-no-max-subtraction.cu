// Wrong: exp is taken of the bare values; 89 overflows it.

constexpr int THREADS = 128;

__device__ float blockSum(float value, float* tree) {
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
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

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c]);
  sum = blockSum(sum, tree);

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c]) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
