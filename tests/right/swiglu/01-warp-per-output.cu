// Right: a warp owns an output, its lanes share the inner dimension, and shuffles fold both sums.

constexpr int WARP = 32;
constexpr int OUTPUTS = 4;  // of a block

__global__ void swiglu(const float* x, const float* wGate, const float* wUp, float* activated) {
  const int lane = threadIdx.x % WARP;
  const int o = blockIdx.x * OUTPUTS + threadIdx.x / WARP;
  const float* row = x + static_cast<size_t>(blockIdx.y) * D;
  float gate = 0.0f;
  float up = 0.0f;
  for (int k = lane; k < D; k += WARP) {
    gate += row[k] * wGate[o * D + k];
    up += row[k] * wUp[o * D + k];
  }
  for (int step = WARP / 2; step > 0; step /= 2) {
    gate += __shfl_down_sync(0xffffffffu, gate, step);
    up += __shfl_down_sync(0xffffffffu, up, step);
  }
  if (lane == 0) activated[blockIdx.y * F + o] = gate / (1.0f + expf(-gate)) * up;
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  swiglu<<<dim3(F / OUTPUTS, T), OUTPUTS * WARP>>>(x, wGate, wUp, activated);
}
