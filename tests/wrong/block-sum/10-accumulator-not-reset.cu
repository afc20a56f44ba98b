// Wrong: one block folds all rows, and its accumulator is set before the first only.

constexpr int THREADS = 128;

__global__ void fold(const float* x, float* sums, int rows, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  float partial = 0.0f;
  for (int r = 0; r < rows; ++r) {
    for (int c = tid; c < columns; c += THREADS) partial += x[r * columns + c];
    tree[tid] = partial;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
      if (tid < half) tree[tid] += tree[tid + half];
      __syncthreads();
    }
    if (tid == 0) sums[r] = tree[0];
    __syncthreads();
  }
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<1, THREADS>>>(x, sums, rows, columns);
}
