// The second launch touches memory that is not there.
__global__ void fine(float* y) {
  y[threadIdx.x] = 1.0f;
}

__global__ void astray(float* y) {
  y[1ll << 40] = 1.0f;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  fine<<<1, D>>>(y);
  astray<<<1, 1>>>(y);
  fine<<<1, D>>>(y);
}
