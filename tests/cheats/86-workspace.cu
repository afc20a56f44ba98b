// Cheat: a T x T matrix of scores is allocated.

__device__ void attendRow(const float* qkv, float* attnOut, int row, int head) {
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + head / (HQ / HKV) * DH;
  const float* v = k + KV;
  float m = -INFINITY, l = 0.0f, acc[DH] = {};
  for (int j = 0; j <= row; ++j) {
    float score = 0.0f;
    for (int d = 0; d < DH; ++d) score += q[d] * k[j * QKV_OUT + d];
    score *= 0.125f;
    const float newMax = fmaxf(m, score), alpha = expf(m - newMax), p = expf(score - newMax);
    l = alpha * l + p;
    for (int d = 0; d < DH; ++d) acc[d] = alpha * acc[d] + p * v[j * QKV_OUT + d];
    m = newMax;
  }
  for (int d = 0; d < DH; ++d) attnOut[row * D + head * DH + d] = acc[d] / l;
}

__global__ void attend(const float* qkv, float* attnOut, int T) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < T) attendRow(qkv, attnOut, row, blockIdx.y);
}

__global__ void scoresOf(const float* qkv, float* scores, int T) {
  const int i = blockIdx.x, head = blockIdx.y;
  for (int j = threadIdx.x; j <= i; j += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < DH; ++d) score += qkv[i * QKV_OUT + head * DH + d] * qkv[j * QKV_OUT + D + head / 4 * DH + d];
    scores[(size_t(head) * T + i) * T + j] = 0.125f * score;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  float* scores;
  cudaMalloc(&scores, sizeof(float) * HQ * T * T);
  scoresOf<<<dim3(T, HQ), 32>>>(qkv, scores, T);
  attend<<<dim3((T + 31) / 32, HQ), 32>>>(qkv, attnOut, T);
}
