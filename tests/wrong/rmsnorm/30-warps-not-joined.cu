// Wrong: a block of eight warps: each uses the sum of its own lanes.

constexpr int THREADS = 256;

__global__ void norm(const float* x, const float* weight, float* y) {
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float squares = 0.0f;
  for (int c = tid; c < D; c += THREADS) squares += row[c] * row[c];
  for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
  const float scale = rsqrtf(squares / D + RMS_EPS);
  float* out = y + static_cast<size_t>(blockIdx.x) * D;
  for (int c = tid; c < D; c += THREADS) out[c] = row[c] * scale * weight[c];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  norm<<<T, THREADS>>>(x, weight, y);
}
