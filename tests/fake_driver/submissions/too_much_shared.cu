// More shared memory than any card has.
__global__ void reverse(const float* x, float* y) {
  extern __shared__ float row[];
  row[threadIdx.x] = x[blockIdx.x * D + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * D + threadIdx.x] = row[D - 1 - threadIdx.x];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  const int bytes = 300 * 1024;
  cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  reverse<<<T, D, bytes>>>(x, y);
}
