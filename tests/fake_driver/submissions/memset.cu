// The output is set to zero by the host's call, and one kernel adds to it; a copy on the device ends it.
__global__ void add(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  cudaMemset(y, 0, T * D * sizeof(float));
  add<<<T, D>>>(x, y, T * D);
  cudaMemcpy(y, weight, 4 * sizeof(float), cudaMemcpyDeviceToDevice);
}
