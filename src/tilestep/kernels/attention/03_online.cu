// Causal grouped-query attention, rung 3: online softmax over tiles.
//
// The idea: a block keeps 32 query rows of one head resident and walks over K and V in tiles of 32 keys. Each tile
// is staged in shared memory once and serves all 32 rows. The softmax never sees a whole row: each query row
// carries its running maximum m, its running denominator l and an unnormalised accumulator of 64 values. When a
// tile raises the maximum, what was summed under the old one is brought to the new one by alpha = exp(m_old - m_new),
// on l and on the accumulator alike. One division by l at the end.
//
// The contract: qkv [T, QKV_OUT] holds Q, K and V side by side; attnOut [T, D] receives head h at column h * DH.
// Row i sees keys 0..i, and nothing that stands behind row i has an effect, not even a NaN. Any T >= 1; no
// workspace. D, HQ, HKV, DH, KV and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: K and V move once per query tile and head instead of once per row and head: 31.5 times less than
// 02_cooperative.cu at T = 2048 (a 32-row tile also reads the masked half of its last key tile). About 0.31 ms on
// an H200.
//
// Who does what: a warp owns four query rows, and eight of its threads share a row. For the scores, thread c of the
// eight owns keys c, c + 8, c + 16 and c + 24 of the tile; for the weighted sum it owns dims 4c..4c+3 and
// 32+4c..32+4c+3. Neighbouring lanes hold different rows, not different c: they then read the same 16 bytes of K
// and V, which halves what a 16-byte shared load costs (with c in the low bits this kernel takes 0.49 ms).

constexpr int ROWS = 32;  // query rows resident in a block
constexpr int TILE = 32;  // keys in a tile
constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int SHARERS = THREADS / ROWS;       // threads that share a query row
constexpr int WARP_ROWS = WARP / SHARERS;     // query rows of a warp
constexpr int KEYS = TILE / SHARERS;          // keys that a thread scores in a tile
constexpr int QUADS = DH / 4;                 // float4 in a head
constexpr int PAD = 1;                        // float4; without it eight neighbouring keys start in the same bank
constexpr int GROUP = HQ / HKV;
static_assert(QUADS == 2 * SHARERS, "a thread owns two float4 of the accumulator");
static_assert(WARP % SHARERS == 0, "the threads of a row lie in one warp");

__device__ float dot4(float4 a, float4 b, float sum) {
  sum = fmaf(a.x, b.x, sum);
  sum = fmaf(a.y, b.y, sum);
  sum = fmaf(a.z, b.z, sum);
  return fmaf(a.w, b.w, sum);
}

__device__ float4 scaled(float factor, float4 a) {
  return make_float4(factor * a.x, factor * a.y, factor * a.z, factor * a.w);
}

__device__ float4 plusScaled(float4 sum, float factor, float4 a) {
  return make_float4(fmaf(factor, a.x, sum.x), fmaf(factor, a.y, sum.y), fmaf(factor, a.z, sum.z),
                     fmaf(factor, a.w, sum.w));
}

__global__ void __launch_bounds__(THREADS, 2) attendOnline(const float* qkv,  // [T, QKV_OUT]
                                                          float* attnOut,    // [T, D]
                                                          int T) {
  __shared__ float4 k_smem[TILE][QUADS + PAD];  // [TILE, DH]
  __shared__ float4 v_smem[TILE][QUADS];        // [TILE, DH]
  __shared__ float p_smem[ROWS][TILE + 1];      // exp(score - m); a row is written and read by one warp only

  const int tid = threadIdx.x;
  const int c = tid % WARP / WARP_ROWS;                                // which of the row's eight threads this is
  const int localRow = tid / WARP * WARP_ROWS + tid % WARP_ROWS;
  const int queryTile = gridDim.x - 1 - blockIdx.x;  // the longest walk first, so that the last blocks are short
  const int row = queryTile * ROWS + localRow;
  const int head = blockIdx.y;
  const int kvHead = head / GROUP;
  const float* k = qkv + D + kvHead * DH;       // [T, DH], a row every QKV_OUT
  const float* v = qkv + D + KV + kvHead * DH;  // [T, DH], a row every QKV_OUT
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  // The query row in registers. 1/8 is a power of two, so scaling q first rounds nothing. A row past the end of
  // the tensor takes part in every barrier with zeros, and stores nothing.
  const float scale = 1.0f / sqrtf(static_cast<float>(DH));
  float4 q_reg[QUADS];
#pragma unroll
  for (int quad = 0; quad < QUADS; ++quad) {
    q_reg[quad] = zero;
    if (row < T) {
      const float* q = qkv + static_cast<size_t>(row) * QKV_OUT + head * DH;  // [DH]
      q_reg[quad] = scaled(scale, reinterpret_cast<const float4*>(q)[quad]);
    }
  }

  float m = -INFINITY;    // running maximum of the row, the same in its eight threads
  float l = 0.0f;         // this thread's share of the running denominator
  float4 accLow = zero;   // dims 4c .. 4c + 3
  float4 accHigh = zero;  // dims 32 + 4c .. 32 + 4c + 3

  for (int key0 = 0; key0 <= queryTile * ROWS; key0 += TILE) {
    __syncthreads();  // nobody still reads the previous tile, or its probabilities, when they are overwritten

    // stage the tile; 16 threads read the 256 bytes of a row, and rows past the end are zeros
    for (int x = tid; x < TILE * QUADS; x += THREADS) {
      const int key = x / QUADS;
      const int quad = x % QUADS;
      const bool inside = key0 + key < T;
      const size_t offset = static_cast<size_t>(key0 + key) * QKV_OUT;
      k_smem[key][quad] = inside ? reinterpret_cast<const float4*>(k + offset)[quad] : zero;
      v_smem[key][quad] = inside ? reinterpret_cast<const float4*>(v + offset)[quad] : zero;
    }
    __syncthreads();  // the tile is complete before anybody reads a neighbour's part of it

    float score[KEYS];
#pragma unroll
    for (int n = 0; n < KEYS; ++n) score[n] = 0.0f;
#pragma unroll
    for (int quad = 0; quad < QUADS; ++quad) {
#pragma unroll
      for (int n = 0; n < KEYS; ++n) score[n] = dot4(q_reg[quad], k_smem[n * SHARERS + c][quad], score[n]);
    }

    // the mask selects: whatever a hidden key has produced is replaced, not added to
    float tileMax = -INFINITY;
#pragma unroll
    for (int n = 0; n < KEYS; ++n) {
      if (key0 + n * SHARERS + c > row) score[n] = -INFINITY;
      tileMax = fmaxf(tileMax, score[n]);
    }
#pragma unroll
    for (int step = WARP / 2; step >= WARP_ROWS; step /= 2) {
      tileMax = fmaxf(tileMax, __shfl_xor_sync(0xffffffffu, tileMax, step));
    }

    // Key 0 is visible to every row and lies in the first tile, so newMax is finite from there on.
    const float newMax = fmaxf(m, tileMax);
    const float alpha = expf(m - newMax);  // 0 in the first tile, where nothing has been summed yet
    m = newMax;
    l *= alpha;
    accLow = scaled(alpha, accLow);
    accHigh = scaled(alpha, accHigh);
#pragma unroll
    for (int n = 0; n < KEYS; ++n) {
      const float p = expf(score[n] - newMax);
      p_smem[localRow][n * SHARERS + c] = p;
      l += p;
    }
    __syncwarp();  // the row's probabilities are written by all eight threads before one of them reads them

    // Only keys that the row may see: a hidden V may be NaN, and 0 * NaN is NaN.
    const int visible = min(TILE, row - key0 + 1);
    for (int j = 0; j < visible; ++j) {
      const float p = p_smem[localRow][j];
      accLow = plusScaled(accLow, p, v_smem[j][c]);
      accHigh = plusScaled(accHigh, p, v_smem[j][SHARERS + c]);
    }
  }

  // the row's denominator is spread over its eight threads; every one of them needs the whole
#pragma unroll
  for (int step = WARP / 2; step >= WARP_ROWS; step /= 2) l += __shfl_xor_sync(0xffffffffu, l, step);

  if (row < T) {
    float4* out = reinterpret_cast<float4*>(attnOut + static_cast<size_t>(row) * D + head * DH);  // [DH]
    out[c] = scaled(1.0f / l, accLow);
    out[SHARERS + c] = scaled(1.0f / l, accHigh);
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  const dim3 grid((T + ROWS - 1) / ROWS, HQ);
  attendOnline<<<grid, THREADS>>>(qkv, attnOut, T);
}
