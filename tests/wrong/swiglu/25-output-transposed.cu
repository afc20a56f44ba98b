// Wrong: the output is written [F, T].

constexpr int THREADS = 128;

__global__ void swiglu(const float* x, const float* wGate, const float* wUp, float* activated) {
  const int row = blockIdx.y;
  const int o = blockIdx.x * THREADS + threadIdx.x;
  float gate = 0.0f;
  float up = 0.0f;
  for (int k = 0; k < D; ++k) {
    gate += x[row * D + k] * wGate[o * D + k];
    up += x[row * D + k] * wUp[o * D + k];
  }
  const float silu = gate / (1.0f + expf(-gate));
  activated[o * gridDim.y + row] = silu * up;
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  swiglu<<<dim3(F / THREADS, T), THREADS>>>(x, wGate, wUp, activated);
}
