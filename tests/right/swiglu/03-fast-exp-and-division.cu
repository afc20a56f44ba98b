// Right: the fast exp and the fast division; a block of 100 threads that walks the outputs in strides.

constexpr int THREADS = 100;

__global__ void swiglu(const float* x, const float* wGate, const float* wUp, float* activated) {
  const float* row = x + static_cast<size_t>(blockIdx.y) * D;
  for (int o = blockIdx.x * THREADS + threadIdx.x; o < F; o += gridDim.x * THREADS) {
    float gate = 0.0f;
    float up = 0.0f;
    for (int k = D - 1; k >= 0; --k) {
      gate = fmaf(row[k], wGate[o * D + k], gate);
      up = fmaf(row[k], wUp[o * D + k], up);
    }
    activated[blockIdx.y * F + o] = __fdividef(gate, 1.0f + __expf(-gate)) * up;
  }
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  swiglu<<<dim3(7, T), THREADS>>>(x, wGate, wUp, activated);
}
