// Right: a warp shares each dot product and folds it with shuffles.
__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int i = lane; i < D; i += 32) sum += x[token * D + i] * wQkv[column * D + i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 8, T), 256>>>(x, wQkv, qkv);
}
