// Tells what it sees when it is called.
__global__ void look(const float* x, float* y, int n) {
  y[threadIdx.x] = x[threadIdx.x];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  look<<<1, D>>>(x, y, T * D);
}
