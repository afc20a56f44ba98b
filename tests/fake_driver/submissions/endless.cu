// A kernel that never ends.
__global__ void spin(volatile float* y) {
  while (true) y[0] = 1.0f;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  spin<<<1, 1>>>(y);
}
