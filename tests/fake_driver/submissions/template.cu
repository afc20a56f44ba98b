// A kernel that the linker knows by a longer name.
template <int FACTOR>
__global__ void times(const float* x, float* y) {
  y[blockIdx.x * D + threadIdx.x] = FACTOR * x[blockIdx.x * D + threadIdx.x];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  times<3><<<T, D>>>(x, y);
}
