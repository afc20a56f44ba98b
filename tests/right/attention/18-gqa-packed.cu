// Right: the four query heads of a KV head share each tile: 8 tokens times 4 heads are the 32 rows of a block.

constexpr int GROUP = HQ / HKV;
constexpr int TOKENS = 8;
constexpr int ROWS = TOKENS * GROUP;
constexpr int TILE = 32;

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float tile[2][TILE][DH];  // K, then V
  const int token = blockIdx.x * TOKENS + threadIdx.y / GROUP;
  const int kvHead = blockIdx.y;
  const int head = kvHead * GROUP + threadIdx.y % GROUP;
  const int lane = threadIdx.x;  // 8 lanes a row, 8 dims a lane
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int lastToken = min(T, static_cast<int>(blockIdx.x + 1) * TOKENS) - 1;

  float q[8];
  float acc[8] = {};
  for (int n = 0; n < 8; ++n) q[n] = token < T ? qkv[token * QKV_OUT + head * DH + lane * 8 + n] * 0.125f : 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  for (int key0 = 0; key0 <= lastToken; key0 += TILE) {
    __syncthreads();  // the previous tile is no longer read
    for (int x = thread; x < 2 * TILE * DH; x += 8 * ROWS) {
      const int part = x / (TILE * DH);
      const int j = x / DH % TILE;
      const int d = x % DH;
      tile[part][j][d] = key0 + j < T ? qkv[(key0 + j) * QKV_OUT + D + part * KV + kvHead * DH + d] : 0.0f;
    }
    __syncthreads();  // the tile is complete
    for (int j = 0; j < TILE; ++j) {
      float score = 0.0f;
      for (int n = 0; n < 8; ++n) score += q[n] * tile[0][j][lane * 8 + n];
      for (int step = 1; step < 8; step *= 2) score += __shfl_xor_sync(0xffffffffu, score, step, 8);
      if (key0 + j > token) continue;  // after the shuffles, in which the whole warp takes part
      const float newMax = fmaxf(m, score);
      const float alpha = expf(m - newMax);
      const float p = expf(score - newMax);
      l = alpha * l + p;
      for (int n = 0; n < 8; ++n) acc[n] = alpha * acc[n] + p * tile[1][j][lane * 8 + n];
      m = newMax;
    }
  }
  if (token >= T) return;
  for (int n = 0; n < 8; ++n) attnOut[token * D + head * DH + lane * 8 + n] = acc[n] / l;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + TOKENS - 1) / TOKENS, HKV), dim3(8, ROWS)>>>(qkv, attnOut, T);
}
