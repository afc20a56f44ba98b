// Wrong: one block folds all rows, and its accumulator is set before the first only.

constexpr int THREADS = 128;

__global__ void fold(const float* x, float* maxima, int rows, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  float partial = -INFINITY;
  for (int r = 0; r < rows; ++r) {
    for (int c = tid; c < columns; c += THREADS) partial = fmaxf(partial, x[r * columns + c]);
    tree[tid] = partial;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
      if (tid < half) tree[tid] = fmaxf(tree[tid], tree[tid + half]);
      __syncthreads();
    }
    if (tid == 0) maxima[r] = tree[0];
    __syncthreads();
  }
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<1, THREADS>>>(x, maxima, rows, columns);
}
