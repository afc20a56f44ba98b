// Wrong: the values are cut to TF32, 10 bits after the point.

constexpr int THREADS = 64;

// the upper 19 bits, as TF32 has them
__device__ float cut(float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); }

__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = 0; c < columns; ++c) {
    if (in[c] == -INFINITY) continue;
    const float newM = fmaxf(m, in[c]);
    const float alpha = expf(m - newM);
    l = alpha * l + cut(expf(in[c] - newM));
    m = newM;
  }

  for (int c = 0; c < columns; ++c) out[c] = cut(expf(in[c] - m)) / l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
