// Wrong: the comparison is turned round: a row sees itself and the future.

__global__ void attend(const float* qkv, float* attnOut, int T) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.y;
  if (row >= T) return;
  const int kvHead = head / (HQ / HKV);
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + kvHead * DH;
  const float* v = qkv + D + KV + kvHead * DH;

  float m = -INFINITY;
  float l = 0.0f;
  float acc[DH] = {};
  for (int j = row; j < T; ++j) {
    float score = 0.0f;
    for (int d = 0; d < DH; ++d) score += q[d] * k[j * QKV_OUT + d];
    score *= 0.125f;
    const float newMax = fmaxf(m, score);
    const float alpha = expf(m - newMax);
    const float p = expf(score - newMax);
    l = alpha * l + p;
    for (int d = 0; d < DH; ++d) acc[d] = alpha * acc[d] + p * v[j * QKV_OUT + d];
    m = newMax;
  }
  for (int d = 0; d < DH; ++d) attnOut[row * D + head * DH + d] = acc[d] / l;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + 31) / 32, HQ), 32>>>(qkv, attnOut, T);
}
