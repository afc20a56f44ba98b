// A parameter that holds pointers among other things.
struct Work {
  int n;
  const float* x;
  float factor;
  float* y;
};

__global__ void times(Work work) {
  for (int i = 0; i < work.n; ++i) work.y[i] = work.x[i] * work.factor;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  Work work{};
  work.n = T * D;
  work.x = x;
  work.factor = 5.0f;
  work.y = y;
  times<<<1, 1>>>(work);
}
