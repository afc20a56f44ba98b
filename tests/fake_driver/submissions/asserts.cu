// What it asserts does not hold.
#include <cassert>

__global__ void checked(const float* x, float* y) {
  assert(x[0] != x[0]);
  y[0] = x[0];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  checked<<<1, 1>>>(x, y);
}
