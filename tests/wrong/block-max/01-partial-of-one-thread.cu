// Wrong: thread 0 stores what it folded itself.

constexpr int THREADS = 128;

__global__ void fold(const float* x, float* maxima, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) partial = fmaxf(partial, row[c]);
  tree[tid] = partial;
  __syncthreads();
  if (tid == 0) maxima[blockIdx.x] = tree[0];
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, maxima, columns);
}
