// Right: one launch leaves each row's scale in device memory, a second one, with a thread an element, applies it.

constexpr int THREADS = 128;

__global__ void scales(const float* x, float* scale) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  float squares = 0.0f;
  for (int c = tid; c < D; c += THREADS) {
    const float v = x[blockIdx.x * D + c];
    squares = fmaf(v, v, squares);
  }
  tree[tid] = squares;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half) tree[tid] += tree[tid + half];
  }
  if (tid == 0) scale[blockIdx.x] = 1.0f / sqrtf(tree[0] / D + RMS_EPS);
}

__global__ void apply(const float* x, const float* weight, const float* scale, float* y, int count) {
  const int n = blockIdx.x * THREADS + threadIdx.x;
  if (n < count) y[n] = x[n] * weight[n % D] * scale[n / D];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  float* scale;
  cudaMalloc(&scale, T * sizeof(float));
  scales<<<T, THREADS>>>(x, scale);
  apply<<<(T * D + THREADS - 1) / THREADS, THREADS>>>(x, weight, scale, y, T * D);
  cudaFree(scale);
}
