// Right: a warp a row; shuffles go down to lane 0, which takes the root and gives it back by one more shuffle.

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

__global__ void norm(const float* x, const float* weight, float* y) {
  const int lane = threadIdx.x;
  const float4* row = reinterpret_cast<const float4*>(x + static_cast<size_t>(blockIdx.x) * D);
  float squares = 0.0f;
  for (int n = lane; n < D / 4; n += WARP) {
    const float4 v = row[n];
    squares += v.x * v.x + v.y * v.y + (v.z * v.z + v.w * v.w);
  }
  for (int step = WARP / 2; step > 0; step /= 2) squares += __shfl_down_sync(ALL, squares, step);
  float scale = 0.0f;
  if (lane == 0) scale = rsqrtf(squares * (1.0f / D) + RMS_EPS);
  scale = __shfl_sync(ALL, scale, 0);
  const float* values = x + static_cast<size_t>(blockIdx.x) * D;
  for (int c = lane; c < D; c += WARP) y[static_cast<size_t>(blockIdx.x) * D + c] = values[c] * (scale * weight[c]);
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) { norm<<<T, WARP>>>(x, weight, y); }
