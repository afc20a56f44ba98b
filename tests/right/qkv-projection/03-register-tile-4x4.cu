// Right: a thread keeps 4 x 4 sums in registers; tiles of 32 tokens, 32 columns and 8 of the inner dimension.
constexpr int TILE = 32;
constexpr int DEPTH = 8;
constexpr int EACH = 4;

__global__ void __launch_bounds__(64) project(const float* x, const float* wQkv, float* qkv, int T) {
  __shared__ float x_smem[DEPTH][TILE];
  __shared__ float w_smem[DEPTH][TILE];
  const int firstToken = blockIdx.y * TILE;
  const int firstColumn = blockIdx.x * TILE;
  const int tx = threadIdx.x % 8;
  const int ty = threadIdx.x / 8;
  float sum[EACH][EACH] = {};
  for (int start = 0; start < D; start += DEPTH) {
    for (int n = threadIdx.x; n < TILE * DEPTH; n += 64) {
      const int row = n / DEPTH, i = n % DEPTH;
      x_smem[i][row] = firstToken + row < T ? x[(firstToken + row) * D + start + i] : 0.0f;
      w_smem[i][row] = wQkv[(firstColumn + row) * D + start + i];
    }
    __syncthreads();  // both tiles are complete
    for (int i = 0; i < DEPTH; ++i)
      for (int a = 0; a < EACH; ++a)
        for (int b = 0; b < EACH; ++b) sum[a][b] += x_smem[i][ty * EACH + a] * w_smem[i][tx * EACH + b];
    __syncthreads();  // everyone is done before the next tiles come
  }
  for (int a = 0; a < EACH; ++a) {
    const int token = firstToken + ty * EACH + a;
    if (token >= T) break;
    for (int b = 0; b < EACH; ++b) qkv[token * QKV_OUT + firstColumn + tx * EACH + b] = sum[a][b];
  }
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / TILE, (T + TILE - 1) / TILE), 64>>>(x, wQkv, qkv, T);
}
