// Wrong: no barrier keeps the next tile from overwriting this one while others still read it.
constexpr int TILE = 16;

__global__ void project(const float* x, const float* wQkv, float* qkv, int T) {
  __shared__ float x_smem[TILE][TILE + 1];
  __shared__ float w_smem[TILE][TILE + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int token = blockIdx.y * TILE + ty;
  const int column = blockIdx.x * TILE + tx;
  const float* weights = wQkv + (blockIdx.x * TILE + ty) * D;
  float sum = 0.0f;
  for (int start = 0; start < D; start += TILE) {
    x_smem[ty][tx] = token < T ? x[token * D + start + tx] : 0.0f;
    w_smem[ty][tx] = weights[start + tx];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += x_smem[ty][i] * w_smem[tx][i];
  }
  if (token < T) qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / TILE, (T + TILE - 1) / TILE), dim3(TILE, TILE)>>>(x, wQkv, qkv, T);
}
