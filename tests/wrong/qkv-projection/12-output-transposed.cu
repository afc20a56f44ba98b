// Wrong: the output is stored column after column.
__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += x[token * D + i] * wQkv[column * D + i];
  qkv[column * gridDim.y + token] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 256, T), 256>>>(x, wQkv, qkv);
}
