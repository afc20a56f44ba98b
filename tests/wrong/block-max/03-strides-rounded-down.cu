// Wrong: the number of strides is rounded down: the last, partial one is left out.

constexpr int THREADS = 64;

__global__ void fold(const float* x, float* maxima, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = -INFINITY;
  for (int stride = 0; stride < columns / THREADS; ++stride) partial = fmaxf(partial, row[stride * THREADS + tid]);
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
}
