// Wrong: the column of q has no head offset: every head computes with query head 0.

constexpr int ROWS = 32;
constexpr int TILE = 32;
constexpr int THREADS = 128;
constexpr int SHARERS = THREADS / ROWS;  // threads of one query row
constexpr int DIMS = DH / SHARERS;       // dims that a thread accumulates

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float q_smem[ROWS][DH + 1];
  __shared__ float k_smem[TILE][DH + 1];
  __shared__ float v_smem[TILE][DH];
  __shared__ float p_smem[ROWS][TILE + 1];
  __shared__ float m_smem[ROWS], l_smem[ROWS], alpha_smem[ROWS];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.x * ROWS;
  const int head = blockIdx.y;
  const int kvHead = head / (HQ / HKV);
  const int r = tid / SHARERS;
  const int c = tid % SHARERS;
  const int row = row0 + r;

  for (int x = tid; x < ROWS * DH; x += THREADS) {
    const int i = row0 + x / DH;
    q_smem[x / DH][x % DH] = i < T ? qkv[i * QKV_OUT + x % DH] : 0.0f;
  }
  if (tid < ROWS) {
    m_smem[tid] = -INFINITY;
    l_smem[tid] = 0.0f;
  }
  float acc[DIMS] = {};

  for (int key0 = 0; key0 <= row0; key0 += TILE) {
    __syncthreads();  // the previous tile is no longer read
    for (int x = tid; x < TILE * DH; x += THREADS) {
      const int j = key0 + x / DH;
      const int column = D + kvHead * DH + x % DH;
      k_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + column] : 0.0f;
      v_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + KV + column] : 0.0f;
    }
    __syncthreads();  // the tile is complete

    for (int j = c; j < TILE; j += SHARERS) {
      float score = 0.0f;
      for (int d = 0; d < DH; ++d) score += q_smem[r][d] * k_smem[j][d];
      p_smem[r][j] = key0 + j <= row ? score * 0.125f : -INFINITY;
    }
    __syncthreads();  // the scores of a row come from several threads

    if (tid < ROWS) {
      float newMax = m_smem[tid];
      for (int j = 0; j < TILE; ++j) newMax = fmaxf(newMax, p_smem[tid][j]);
      float sum = 0.0f;
      for (int j = 0; j < TILE; ++j) {
        p_smem[tid][j] = expf(p_smem[tid][j] - newMax);
        sum += p_smem[tid][j];
      }
      alpha_smem[tid] = expf(m_smem[tid] - newMax);
      l_smem[tid] = alpha_smem[tid] * l_smem[tid] + sum;
      m_smem[tid] = newMax;
    }
    __syncthreads();  // probabilities and alpha are complete

    for (int n = 0; n < DIMS; ++n) acc[n] *= alpha_smem[r];
    for (int j = 0; j < TILE && key0 + j <= row; ++j) {
      for (int n = 0; n < DIMS; ++n) acc[n] += p_smem[r][j] * v_smem[j][c * DIMS + n];
    }
  }
  if (row < T) {
    for (int n = 0; n < DIMS; ++n) attnOut[row * D + head * DH + c * DIMS + n] = acc[n] / l_smem[r];
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + ROWS - 1) / ROWS, HQ), THREADS>>>(qkv, attnOut, T);
}
