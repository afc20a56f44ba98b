// Wrong: the tree stops while leaf 1 still has half of the row.

constexpr int THREADS = 256;

__global__ void fold(const float* x, float* sums, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = 0.0f;
  for (int c = tid; c < columns; c += THREADS) partial += row[c];
  tree[tid] = partial;
  __syncthreads();
  for (int half = THREADS / 2; half > 1; half /= 2) {
    if (tid < half) tree[tid] += tree[tid + half];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = tree[0];
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, sums, columns);
}
