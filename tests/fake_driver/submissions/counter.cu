// A variable of the module, which a fresh load sets back.
__device__ int calls = 40;

__global__ void count(float* y, int n) {
  calls += 1;
  for (int i = 0; i < n; ++i) y[i] = calls;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  count<<<1, 1>>>(y, T * D);
}
