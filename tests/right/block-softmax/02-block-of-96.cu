// Right: a block of 96 whose tree rounds its halves up, so that an odd leaf waits for the next level.

constexpr int THREADS = 96;

template <class Op>
__device__ float fold(float value, float* tree, Op op) {
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int count = THREADS; count > 1;) {
    const int half = (count + 1) / 2;
    if (threadIdx.x + half < count) tree[threadIdx.x] = op(tree[threadIdx.x], tree[threadIdx.x + half]);
    count = half;
    __syncthreads();
  }
  return tree[0];
}

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float maxima[THREADS];
  __shared__ float sums[THREADS];  // an array of its own, so that no barrier is needed between the two trees
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = fold(m, maxima, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += THREADS) sum += expf(in[c] - m);
  sum = fold(sum, sums, [](float a, float b) { return a + b; });

  for (int c = threadIdx.x; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
