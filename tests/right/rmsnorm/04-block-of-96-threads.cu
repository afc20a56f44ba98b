// Right: three warps a row, which is no power of two: warps fold by shuffles, and every thread adds the three sums.

constexpr int WARPS = 3;
constexpr int THREADS = 32 * WARPS;

__global__ void norm(const float* x, const float* weight, float* y) {
  __shared__ float sums[WARPS];
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  double squares = 0.0;
  for (int c = tid; c < D; c += THREADS) squares += static_cast<double>(row[c]) * row[c];
  float sum = static_cast<float>(squares);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (tid % 32 == 0) sums[tid / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int warp = 0; warp < WARPS; ++warp) total += sums[warp];
  const float scale = rsqrtf(fmaf(total, 1.0f / D, RMS_EPS));
  for (int c = tid; c < D; c += THREADS) y[static_cast<size_t>(blockIdx.x) * D + c] = weight[c] * (row[c] * scale);
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) { norm<<<T, THREADS>>>(x, weight, y); }
