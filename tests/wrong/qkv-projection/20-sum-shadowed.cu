// Wrong: the loop adds into a variable of its own; the one that is stored stays 0.
__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int half = 0; half < 2; ++half) {
    float sum = 0.0f;
    for (int i = half * D / 2; i < (half + 1) * D / 2; ++i) sum += x[token * D + i] * wQkv[column * D + i];
  }
  qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 256, T), 256>>>(x, wQkv, qkv);
}
