// Causal grouped-query attention, rung 1: one thread does everything.
//
// The idea: write the definition down. A block of 256 threads owns one (row, query head); thread 0 computes the
// scores, their maximum, the probabilities and the weighted sum of V, while 255 threads look on.
//
// The contract: qkv [T, QKV_OUT] holds Q, K and V side by side; attnOut [T, D] receives head h at column h * DH.
// Row i sees keys 0..i, and nothing that stands behind row i has an effect, not even a NaN. 1 <= T <= MAX_T.
// D, HQ, HKV, DH, KV and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: K and V are read once for every row and head, by a single thread: about 40 ms at T = 2048 on an H200.
// The score row is materialised on purpose: it can be printed, and a printed row tells a wrong mask (a finite
// number where -inf should be) from a wrong softmax (right scores, wrong probabilities).

constexpr int THREADS = 256;
constexpr int MAX_T = 2048;  // length of the score row
constexpr int GROUP = HQ / HKV;

__global__ void attendSerial(const float* qkv,  // [T, QKV_OUT]
                             float* attnOut,    // [T, D]
                             int T) {
  __shared__ float score_smem[MAX_T];

  if (threadIdx.x != 0) return;  // no barrier follows

  const int row = blockIdx.x / HQ;
  const int head = blockIdx.x % HQ;
  const int kvHead = head / GROUP;
  const float* q = qkv + static_cast<size_t>(row) * QKV_OUT + head * DH;  // [DH]
  const float* k = qkv + D + kvHead * DH;                                 // [T, DH], a row every QKV_OUT
  const float* v = qkv + D + KV + kvHead * DH;                            // [T, DH], a row every QKV_OUT
  float* out = attnOut + static_cast<size_t>(row) * D + head * DH;        // [DH]

  // scores; a masked one is -inf, and its key is never read
  const float scale = 1.0f / sqrtf(static_cast<float>(DH));
  float largest = -INFINITY;
  for (int j = 0; j < T; ++j) {
    float score = -INFINITY;
    if (j <= row) {
      score = 0.0f;
      for (int d = 0; d < DH; ++d) score += q[d] * k[static_cast<size_t>(j) * QKV_OUT + d];
      score *= scale;
    }
    score_smem[j] = score;
    largest = fmaxf(largest, score);
  }

  // probabilities; the maximum is taken off first, since exp overflows a float beyond 88
  float sum = 0.0f;
  for (int j = 0; j <= row; ++j) {
    score_smem[j] = expf(score_smem[j] - largest);
    sum += score_smem[j];
  }

  // weighted sum of V over the visible keys only: 0 * NaN would be NaN
  for (int d = 0; d < DH; ++d) {
    float total = 0.0f;
    for (int j = 0; j <= row; ++j) total += score_smem[j] * v[static_cast<size_t>(j) * QKV_OUT + d];
    out[d] = total / sum;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attendSerial<<<T * HQ, THREADS>>>(qkv, attnOut, T);
}
