// Wrong: 40 KB of static and 20 KB of dynamic shared memory, together above 48 KB, and no attribute: the launch fails.
__global__ void norm(const float* x, const float* weight, float* y) {
  __shared__ float fixed[10240];
  extern __shared__ float open[];
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float* out = y + static_cast<size_t>(blockIdx.x) * D;
  for (int c = threadIdx.x; c < D; c += 256) fixed[c] = row[c];
  __syncthreads();
  if (threadIdx.x == 0) {
    float squares = 0.0f;
    for (int c = 0; c < D; ++c) squares = fmaf(fixed[c], fixed[c], squares);
    open[0] = rsqrtf(squares / D + RMS_EPS);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < D; c += 256) out[c] = row[c] * open[0] * weight[c];
}
void runRmsNorm(const float* x, const float* weight, float* y, int T) { norm<<<T, 256, 20480>>>(x, weight, y); }
