// Wrong: right values, but Q, K and V are launched one after another.
__global__ void project(const float* x, const float* wQkv, float* qkv, int first) {
  const int column = first + blockIdx.x * 128 + threadIdx.x;
  const int token = blockIdx.y;
  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += x[token * D + i] * wQkv[column * D + i];
  qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(D / 128, T), 128>>>(x, wQkv, qkv, 0);
  project<<<dim3(KV / 128, T), 128>>>(x, wQkv, qkv, D);
  project<<<dim3(KV / 128, T), 128>>>(x, wQkv, qkv, D + KV);
}
