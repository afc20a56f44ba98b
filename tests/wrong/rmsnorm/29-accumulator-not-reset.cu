// Wrong: a block takes two rows and does not clear its sum.

constexpr int THREADS = 256;
constexpr int ROWS = 2;

__global__ void norm(const float* x, const float* weight, float* y, int T) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  float squares = 0.0f;
  for (int r = blockIdx.x * ROWS; r < min(T, (blockIdx.x + 1) * ROWS); ++r) {
    const float* row = x + static_cast<size_t>(r) * D;
    for (int c = tid; c < D; c += THREADS) squares += row[c] * row[c];
    tree[tid] = squares;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
      if (tid < half) tree[tid] += tree[tid + half];
      __syncthreads();
    }
    const float scale = rsqrtf(tree[0] / D + RMS_EPS);
    float* out = y + static_cast<size_t>(r) * D;
    for (int c = tid; c < D; c += THREADS) out[c] = row[c] * scale * weight[c];
    __syncthreads();
  }
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  norm<<<(T + ROWS - 1) / ROWS, THREADS>>>(x, weight, y, T);
}
