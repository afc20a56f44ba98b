// Wrong: a thread makes three outputs and sets its sum to 0 only once.
__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.x;
  float sum = 0.0f;
  for (int column = threadIdx.x; column < QKV_OUT; column += 256) {
    for (int i = 0; i < D; ++i) sum += x[token * D + i] * wQkv[column * D + i];
    qkv[token * QKV_OUT + column] = sum;
  }
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<T, 256>>>(x, wQkv, qkv);
}
