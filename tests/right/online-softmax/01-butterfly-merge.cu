// Right: a warp owns a row; pairs are merged by shuffles, and -FLT_MAX stands in for nothing seen yet.

constexpr int WARP = 32;
constexpr float LEAST = -3.402823466e+38f;  // finite, so that LEAST - LEAST is 0 and not NaN

__global__ void softmax(const float* x, float* y, int columns) {
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  float m = LEAST;
  float l = 0.0f;
  for (int c = threadIdx.x; c < columns; c += WARP) {
    const float newM = fmaxf(m, in[c]);
    l = l * expf(m - newM) + expf(in[c] - newM);
    m = newM;
  }
  for (int step = WARP / 2; step > 0; step /= 2) {
    const float otherM = __shfl_xor_sync(0xffffffffu, m, step);
    const float otherL = __shfl_xor_sync(0xffffffffu, l, step);
    const float newM = fmaxf(m, otherM);
    l = l * expf(m - newM) + otherL * expf(otherM - newM);
    m = newM;
  }

  for (int c = threadIdx.x; c < columns; c += WARP) out[c] = expf(in[c] - m) / l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) { softmax<<<rows, WARP>>>(x, y, columns); }
