// Two kernels that nvcc and a host compiler name differently.
namespace {
__global__ void first(float* y, int n) {
  for (int i = 0; i < n; i += 2) y[i] = 1.0f;
}
}  // namespace

static __global__ void second(float* y, int n) {
  for (int i = 1; i < n; i += 2) y[i] = 2.0f;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  first<<<1, 1>>>(y, T * D);
  second<<<1, 1>>>(y, T * D);
}
