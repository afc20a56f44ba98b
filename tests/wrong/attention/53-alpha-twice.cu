// Wrong: the accumulator is rescaled by alpha twice.

constexpr int ROWS = 64;  // query rows, and threads, of a block
constexpr int TILE = 16;

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float k_smem[TILE][DH];
  __shared__ float v_smem[TILE][DH];
  const int row = blockIdx.x * ROWS + threadIdx.x;
  const int lastRow = min(T, (blockIdx.x + 1) * ROWS) - 1;
  const int head = blockIdx.y;
  const int kvHead = head / (HQ / HKV);

  float q[DH];
  for (int d = 0; d < DH; ++d) q[d] = row < T ? qkv[row * QKV_OUT + head * DH + d] : 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  float acc[DH] = {};

  for (int key0 = 0; key0 <= lastRow; key0 += TILE) {
    __syncthreads();  // the previous tile is no longer read
    for (int x = threadIdx.x; x < TILE * DH; x += ROWS) {
      const int j = key0 + x / DH;
      const int column = D + kvHead * DH + x % DH;
      k_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + column] : 0.0f;
      v_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + KV + column] : 0.0f;
    }
    __syncthreads();  // the tile is complete
    const int visible = min(TILE, row - key0 + 1);
    if (visible <= 0) continue;

    float scores[TILE];
    float newMax = m;
    for (int j = 0; j < visible; ++j) {
      float score = 0.0f;
      for (int d = 0; d < DH; ++d) score += q[d] * k_smem[j][d];
      scores[j] = score * 0.125f;
      newMax = fmaxf(newMax, scores[j]);
    }
    const float alpha = expf(m - newMax);
    l *= alpha;
    for (int d = 0; d < DH; ++d) acc[d] *= alpha * alpha;
    for (int j = 0; j < visible; ++j) {
      const float p = expf(scores[j] - newMax);
      l += p;
      for (int d = 0; d < DH; ++d) acc[d] += p * v_smem[j][d];
    }
    m = newMax;
  }
  if (row < T) {
    for (int d = 0; d < DH; ++d) attnOut[row * D + head * DH + d] = acc[d] / l;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + ROWS - 1) / ROWS, HQ), ROWS>>>(qkv, attnOut, T);
}
