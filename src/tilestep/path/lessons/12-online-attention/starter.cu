// Online attention: the cooperative kernel of the stage before, behind the capstone's seam. Right, and slow.
//
// qkv [T, QKV_OUT] holds Q, K and V side by side; attnOut [T, D] receives head h at column h * DH. Row i sees keys
// 0..i, and nothing behind row i has an effect, not even a NaN. No workspace: nothing may be allocated.
//
// What it costs: every row of every head walks over K and V from the start.

constexpr int THREADS = 256;
constexpr int MAX_T = 2048;  // length of the score row
constexpr int GROUP = HQ / HKV;
constexpr int QUADS = DH / 4;  // float4 in a head

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Folds one value a thread into one for the block, which every thread gets. All threads of the block must call it;
// tree_smem may be reused at once.
template <class Op>
__device__ float blockReduce(float value, float* tree_smem /* [THREADS] */, Op op) {
  const int tid = threadIdx.x;
  tree_smem[tid] = value;
  __syncthreads();  // every leaf is written before a neighbour folds it
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] = op(tree_smem[tid], tree_smem[tid + half]);
    __syncthreads();  // this level is written before the next one reads it
  }
  const float result = tree_smem[0];
  __syncthreads();  // everyone has read the result before the next reduction overwrites it
  return result;
}

// TODO: a block for each row loads K and V anew for each row. Let a block keep 32 rows and load each tile of K and V
// once for all of them, with a softmax that runs along: m, l and acc for each row.
__global__ void __launch_bounds__(THREADS) attendCooperative(const float* qkv,  // [T, QKV_OUT]
                                                            float* attnOut,    // [T, D]
                                                            int T) {
  __shared__ float score_smem[MAX_T];
  __shared__ float4 q_smem[QUADS];  // [DH], scaled
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const int row = blockIdx.x / HQ;
  const int head = blockIdx.x % HQ;
  const int kvHead = head / GROUP;
  const float* q = qkv + static_cast<size_t>(row) * QKV_OUT + head * DH;  // [DH]
  const float* k = qkv + D + kvHead * DH;                                 // [T, DH], a row every QKV_OUT
  const float* v = qkv + D + KV + kvHead * DH;                            // [T, DH], a row every QKV_OUT

  if (tid < QUADS) {
    const float scale = 1.0f / sqrtf(static_cast<float>(DH));  // 1/8, so scaling q first rounds nothing
    const float4 part = reinterpret_cast<const float4*>(q)[tid];
    q_smem[tid] = make_float4(part.x * scale, part.y * scale, part.z * scale, part.w * scale);
  }
  __syncthreads();  // q is complete before any thread takes a dot product with it

  // scores, a key a thread; a masked one is -inf, and its key is never read
  float largest = -INFINITY;
  for (int j = tid; j < T; j += THREADS) {
    float score = -INFINITY;
    if (j <= row) {
      const float4* key = reinterpret_cast<const float4*>(k + static_cast<size_t>(j) * QKV_OUT);
      float4 dot = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
      for (int c = 0; c < QUADS; ++c) {
        const float4 a = q_smem[c];
        const float4 b = key[c];
        dot.x += a.x * b.x;
        dot.y += a.y * b.y;
        dot.z += a.z * b.z;
        dot.w += a.w * b.w;
      }
      score = (dot.x + dot.y) + (dot.z + dot.w);
    }
    score_smem[j] = score;
    largest = fmaxf(largest, score);
  }
  largest = blockReduce(largest, tree_smem, Larger());

  // probabilities, not yet normalised; each thread rewrites the scores that it wrote itself
  float sum = 0.0f;
  for (int j = tid; j <= row; j += THREADS) {
    const float p = expf(score_smem[j] - largest);
    score_smem[j] = p;
    sum += p;
  }
  sum = blockReduce(sum, tree_smem, Plus());  // its barriers also publish the probabilities to all threads

  // weighted sum of V over the visible keys only: 0 * NaN would be NaN
  if (tid < DH) {
    float total = 0.0f;
    for (int j = 0; j <= row; ++j) total += score_smem[j] * v[static_cast<size_t>(j) * QKV_OUT + tid];
    attnOut[static_cast<size_t>(row) * D + head * DH + tid] = total / sum;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attendCooperative<<<T * HQ, THREADS>>>(qkv, attnOut, T);
}
