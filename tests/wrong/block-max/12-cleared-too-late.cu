// Wrong: the output is set to 0 after the kernel, not before it.

constexpr int THREADS = 256;

__global__ void fold(const float* x, float* maxima, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) partial = fmaxf(partial, row[c]);
  tree[tid] = partial;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] = fmaxf(tree[tid], tree[tid + half]);
    __syncthreads();
  }
  if (tid == 0) maxima[blockIdx.x] = tree[0];
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, maxima, columns);
  cudaMemsetAsync(maxima, 0, rows * sizeof(float));
}
