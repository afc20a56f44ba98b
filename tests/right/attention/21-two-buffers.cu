// Right: two buffers for K and V: the next tile is staged while this one is read, with one barrier a tile.

constexpr int ROWS = 32;
constexpr int TILE = 16;
constexpr int THREADS = 128;
constexpr int SHARERS = THREADS / ROWS;
constexpr int DIMS = DH / SHARERS;

struct Tile {
  float k[TILE][DH];
  float v[TILE][DH];
};

__device__ void stage(Tile& tile, const float* qkv, int kvHead, int key0, int T) {
  for (int x = threadIdx.x; x < TILE * DH; x += THREADS) {
    const int j = key0 + x / DH;
    const float* key = qkv + j * QKV_OUT + D + kvHead * DH + x % DH;
    tile.k[x / DH][x % DH] = j < T ? key[0] : 0.0f;
    tile.v[x / DH][x % DH] = j < T ? key[KV] : 0.0f;
  }
}

__global__ void attend(const float* __restrict__ qkv, float* __restrict__ attnOut, int T) {
  __shared__ Tile tiles[2];
  const int r = threadIdx.x / SHARERS;
  const int c = threadIdx.x % SHARERS;
  const int row = blockIdx.x * ROWS + r;
  const int lastRow = min(T, static_cast<int>(blockIdx.x + 1) * ROWS) - 1;
  const int head = blockIdx.y;
  const int kvHead = head / (HQ / HKV);

  float q[DIMS];
  float acc[DIMS] = {};
  for (int n = 0; n < DIMS; ++n) q[n] = row < T ? qkv[row * QKV_OUT + head * DH + c * DIMS + n] : 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  stage(tiles[0], qkv, kvHead, 0, T);
  for (int key0 = 0; key0 <= lastRow; key0 += TILE) {
    // this tile is complete, and nobody reads the buffer any more that is filled next
    __syncthreads();
    const Tile& tile = tiles[key0 / TILE % 2];
    if (key0 + TILE <= lastRow) stage(tiles[(key0 / TILE + 1) % 2], qkv, kvHead, key0 + TILE, T);

    float scores[TILE];
    float newMax = m;
    for (int j = 0; j < TILE; ++j) {
      float score = 0.0f;
      for (int n = 0; n < DIMS; ++n) score += q[n] * tile.k[j][c * DIMS + n];
      score += __shfl_xor_sync(0xffffffffu, score, 1);
      score += __shfl_xor_sync(0xffffffffu, score, 2);
      scores[j] = key0 + j <= row ? score * 0.125f : -INFINITY;
      newMax = fmaxf(newMax, scores[j]);
    }
    const float alpha = expf(m - newMax);
    l *= alpha;
    for (int n = 0; n < DIMS; ++n) acc[n] *= alpha;
    for (int j = 0; j < TILE && key0 + j <= row; ++j) {
      const float p = expf(scores[j] - newMax);
      l += p;
      for (int n = 0; n < DIMS; ++n) acc[n] += p * tile.v[j][c * DIMS + n];
    }
    m = newMax;
  }
  if (row < T) {
    for (int n = 0; n < DIMS; ++n) attnOut[row * D + head * DH + c * DIMS + n] = acc[n] / l;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + ROWS - 1) / ROWS, HQ), THREADS>>>(qkv, attnOut, T);
}
