// The input is changed.
__global__ void spoil(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i];
  const_cast<float*>(x)[D - 1] = 0.0f;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  spoil<<<1, 1>>>(x, y, T * D);
}
