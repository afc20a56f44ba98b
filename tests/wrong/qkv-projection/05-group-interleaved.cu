// Wrong: each group's query heads, its key head and its value head stand together.
__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int group = column / (6 * DH);
  const int head = column / DH % 6;  // within the group
  int row = (group * 4 + head) * DH;
  if (head == 4) row = D + group * DH;
  if (head == 5) row = D + KV + group * DH;
  row += column % DH;
  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += x[token * D + i] * wQkv[row * D + i];
  qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 256, T), 256>>>(x, wQkv, qkv);
}
