// Wrong: no barrier between the leaves and the tree.

constexpr int THREADS = 256;

__global__ void norm(const float* x, const float* weight, float* y) {
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float squares = 0.0f;
  for (int c = tid; c < D; c += THREADS) squares += row[c] * row[c];
  tree[tid] = squares;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] += tree[tid + half];
    __syncthreads();
  }
  const float scale = rsqrtf(tree[0] / D + RMS_EPS);
  float* out = y + static_cast<size_t>(blockIdx.x) * D;
  for (int c = tid; c < D; c += THREADS) out[c] = row[c] * scale * weight[c];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  norm<<<T, THREADS>>>(x, weight, y);
}
