// Wrong: only whole strides are summed: the columns after them are left out.

constexpr int THREADS = 64;

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

  float m = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = blockMax(m, tree);

  float sum = 0.0f;
  for (int n = 0; n < columns / THREADS; ++n) sum += expf(in[n * THREADS + tid] - m);
  sum = blockSum(sum, tree);

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
