// Right: tiles of 64 keys, float4 everywhere, 52 KB of dynamic shared memory by cudaFuncSetAttribute.

constexpr int ROWS = 32;
constexpr int TILE = 64;
constexpr int THREADS = 256;
constexpr int SHARERS = THREADS / ROWS;
constexpr int QUADS = DH / 4;
constexpr int K_PITCH = QUADS + 1;  // in float4
constexpr int P_PITCH = TILE + 4;   // in floats
constexpr int SHARED_BYTES = 16 * (ROWS * QUADS + TILE * K_PITCH + TILE * QUADS) + 4 * ROWS * P_PITCH;

__global__ void attend(const float* qkv, float* attnOut, int T) {
  extern __shared__ float4 shared[];
  float4* q_smem = shared;                     // [ROWS][QUADS]
  float4* k_smem = q_smem + ROWS * QUADS;      // [TILE][K_PITCH]
  float4* v_smem = k_smem + TILE * K_PITCH;    // [TILE][QUADS]
  float* p_smem = reinterpret_cast<float*>(v_smem + TILE * QUADS);  // [ROWS][P_PITCH]
  const int tid = threadIdx.x;
  const int r = tid / SHARERS;
  const int c = tid % SHARERS;
  const int row0 = blockIdx.x * ROWS;
  const int row = row0 + r;
  const int head = blockIdx.y;
  const int kvHead = head / (HQ / HKV);
  const float4* packed = reinterpret_cast<const float4*>(qkv);  // [T][QKV_OUT / 4]
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  for (int x = tid; x < ROWS * QUADS; x += THREADS) {
    const int i = row0 + x / QUADS;
    q_smem[x] = i < T ? packed[i * (QKV_OUT / 4) + head * QUADS + x % QUADS] : zero;
  }
  float m = -INFINITY;
  float l = 0.0f;
  float4 low = zero;
  float4 high = zero;
  for (int key0 = 0; key0 < min(T, row0 + ROWS); key0 += TILE) {
    __syncthreads();  // the previous tile is no longer read
    for (int x = tid; x < TILE * QUADS; x += THREADS) {
      const int j = key0 + x / QUADS;
      const float4* key = packed + j * (QKV_OUT / 4) + D / 4 + kvHead * QUADS + x % QUADS;
      k_smem[x / QUADS * K_PITCH + x % QUADS] = j < T ? key[0] : zero;
      v_smem[x] = j < T ? key[KV / 4] : zero;
    }
    __syncthreads();  // the tile is complete
    float scores[TILE / SHARERS];
    float newMax = m;
    for (int n = 0; n < TILE / SHARERS; ++n) {
      const int j = n * SHARERS + c;
      float4 sum = zero;
      for (int d = 0; d < QUADS; ++d) {
        const float4 a = q_smem[r * QUADS + d];
        const float4 b = k_smem[j * K_PITCH + d];
        sum = make_float4(sum.x + a.x * b.x, sum.y + a.y * b.y, sum.z + a.z * b.z, sum.w + a.w * b.w);
      }
      scores[n] = key0 + j <= row ? (sum.x + sum.y + sum.z + sum.w) * 0.125f : -INFINITY;
      newMax = fmaxf(newMax, scores[n]);
    }
    for (int step = 1; step < SHARERS; step *= 2) newMax = fmaxf(newMax, __shfl_xor_sync(0xffffffffu, newMax, step));
    const float alpha = expf(m - newMax);
    l *= alpha;
    for (int n = 0; n < TILE / SHARERS; ++n) {
      const float p = expf(scores[n] - newMax);
      p_smem[r * P_PITCH + n * SHARERS + c] = p;
      l += p;
    }
    __syncwarp();  // the eight threads of a row have stored their weights
    low = make_float4(low.x * alpha, low.y * alpha, low.z * alpha, low.w * alpha);
    high = make_float4(high.x * alpha, high.y * alpha, high.z * alpha, high.w * alpha);
    for (int j = 0; j < TILE && key0 + j <= row; ++j) {
      const float p = p_smem[r * P_PITCH + j];
      const float4 a = v_smem[j * QUADS + c];
      const float4 b = v_smem[j * QUADS + SHARERS + c];
      low = make_float4(low.x + p * a.x, low.y + p * a.y, low.z + p * a.z, low.w + p * a.w);
      high = make_float4(high.x + p * b.x, high.y + p * b.y, high.z + p * b.z, high.w + p * b.w);
    }
    m = newMax;
  }
  for (int step = 1; step < SHARERS; step *= 2) l += __shfl_xor_sync(0xffffffffu, l, step);
  if (row < T) {
    float4* out = reinterpret_cast<float4*>(attnOut + row * D + head * DH);
    out[c] = make_float4(low.x / l, low.y / l, low.z / l, low.w / l);
    out[SHARERS + c] = make_float4(high.x / l, high.y / l, high.z / l, high.w / l);
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
  attend<<<dim3((T + ROWS - 1) / ROWS, HQ), THREADS, SHARED_BYTES>>>(qkv, attnOut, T);
}
