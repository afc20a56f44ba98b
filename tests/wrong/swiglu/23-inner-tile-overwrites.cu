// Wrong: the sums are set to 0 in every tile.

constexpr int THREADS = 64;
constexpr int TILE = 32;

__global__ void swiglu(const float* x, const float* wGate, const float* wUp, float* activated) {
  __shared__ float x_smem[TILE];
  __shared__ float gate_smem[THREADS][TILE + 1];
  __shared__ float up_smem[THREADS][TILE + 1];
  const int tid = threadIdx.x;
  const int row = blockIdx.y;
  const int o0 = blockIdx.x * THREADS;
  float gate = 0.0f;
  float up = 0.0f;
  for (int k0 = 0; k0 < D; k0 += TILE) {
    gate = 0.0f;
    up = 0.0f;
    if (tid < TILE) x_smem[tid] = x[row * D + k0 + tid];
    for (int n = tid; n < THREADS * TILE; n += THREADS) {
      gate_smem[n / TILE][n % TILE] = wGate[(o0 + n / TILE) * D + k0 + n % TILE];
      up_smem[n / TILE][n % TILE] = wUp[(o0 + n / TILE) * D + k0 + n % TILE];
    }
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      gate += x_smem[k] * gate_smem[tid][k];
      up += x_smem[k] * up_smem[tid][k];
    }
    __syncthreads();
  }
  activated[row * F + o0 + tid] = gate / (1.0f + expf(-gate)) * up;
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  swiglu<<<dim3(F / THREADS, T), THREADS>>>(x, wGate, wUp, activated);
}
