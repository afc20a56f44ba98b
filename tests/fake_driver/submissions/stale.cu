// Tells what it found in its output: 1 where that was NaN.
__global__ void look(float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = y[i] != y[i] ? 1.0f : 0.0f;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  look<<<1, 1>>>(y, T * D);
}
