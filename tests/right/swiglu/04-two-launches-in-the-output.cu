// Right: the first launch leaves silu(gate) in the output, the second multiplies up into it.

constexpr int THREADS = 128;

__device__ float dot(const float* a, const float* b) {
  float even = 0.0f;
  float odd = 0.0f;
  for (int k = 0; k < D; k += 2) {
    even += a[k] * b[k];
    odd += a[k + 1] * b[k + 1];
  }
  return even + odd;
}

__global__ void gates(const float* x, const float* wGate, float* activated) {
  const int o = blockIdx.x * THREADS + threadIdx.x;
  const float z = dot(x + blockIdx.y * D, wGate + o * D);
  activated[blockIdx.y * F + o] = z * (1.0f / (1.0f + expf(-z)));
}

__global__ void ups(const float* x, const float* wUp, float* activated) {
  const int o = blockIdx.x * THREADS + threadIdx.x;
  activated[blockIdx.y * F + o] *= dot(x + blockIdx.y * D, wUp + o * D);
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  const dim3 grid(F / THREADS, T);
  gates<<<grid, THREADS>>>(x, wGate, activated);
  ups<<<grid, THREADS>>>(x, wUp, activated);
}
