// Wrong: no guard: the last block has fewer rows than warps.

constexpr int WARP = 32;
constexpr int ROWS = 4;  // rows of a block, a warp each

__global__ void norm(const float* x, const float* weight, float* y, int T) {
  const int lane = threadIdx.x % WARP;
  const int row = blockIdx.x * ROWS + threadIdx.x / WARP;
  float squares = 0.0f;
  for (int c = lane; c < D; c += WARP) squares += x[row * D + c] * x[row * D + c];
  for (int step = WARP / 2; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
  const float scale = rsqrtf(squares / D + RMS_EPS);
  for (int c = lane; c < D; c += WARP) y[row * D + c] = x[row * D + c] * scale * weight[c];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  norm<<<(T + ROWS - 1) / ROWS, WARP * ROWS>>>(x, weight, y, T);
}
