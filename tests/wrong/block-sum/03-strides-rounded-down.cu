// Wrong: the number of strides is rounded down: the last, partial one is left out.

constexpr int THREADS = 64;

__global__ void fold(const float* x, float* sums, int columns) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float partial = 0.0f;
  for (int stride = 0; stride < columns / THREADS; ++stride) partial += row[stride * THREADS + tid];
  tree[tid] = partial;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] += tree[tid + half];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = tree[0];
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<rows, THREADS>>>(x, sums, columns);
}
