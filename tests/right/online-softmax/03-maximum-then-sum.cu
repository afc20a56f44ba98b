// Right: one pass a thread, then the block's maximum first, and the sum of the rescaled denominators after it.

constexpr int THREADS = 128;
constexpr int WARP = 32;

template <class Op>
__device__ float fold(float value, float* perWarp, Op op) {
  for (int step = WARP / 2; step > 0; step /= 2) value = op(value, __shfl_down_sync(0xffffffffu, value, step));
  if (threadIdx.x % WARP == 0) perWarp[threadIdx.x / WARP] = value;
  __syncthreads();
  value = perWarp[0];
  for (int warp = 1; warp < THREADS / WARP; ++warp) value = op(value, perWarp[warp]);
  return value;
}

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float maxima[THREADS / WARP];
  __shared__ float sums[THREADS / WARP];
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;

  // tiles of four columns: the maximum moves once a tile
  float m = -INFINITY;
  float l = 0.0f;
  for (int c0 = threadIdx.x * 4; c0 < columns; c0 += THREADS * 4) {
    float value[4];
    float newM = m;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      value[n] = c0 + n < columns ? in[c0 + n] : -INFINITY;
      newM = fmaxf(newM, value[n]);
    }
    if (newM == -INFINITY) continue;
    l *= __expf(m - newM);
#pragma unroll
    for (int n = 0; n < 4; ++n) l += __expf(value[n] - newM);
    m = newM;
  }

  const float rowM = fold(m, maxima, [](float a, float b) { return fmaxf(a, b); });
  const float rowL = fold(l * __expf(m - rowM), sums, [](float a, float b) { return a + b; });

  for (int c = threadIdx.x; c < columns; c += THREADS) out[c] = __expf(in[c] - rowM) / rowL;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS>>>(x, y, columns);
}
