// More threads in a block than the kernel's registers allow: found out at the launch.
__global__ void __launch_bounds__(256) copy(const float* x, float* y) {
  y[blockIdx.x * D + threadIdx.x] = x[blockIdx.x * D + threadIdx.x];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  copy<<<T, D>>>(x, y);
}
