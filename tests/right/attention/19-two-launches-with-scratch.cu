// Right: two launches, each over half of the keys; the running state waits in scratch memory between them.

__global__ void attendPart(const float* qkv, float* attnOut, float* state, int T, int begin, int end, bool first) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.y;
  if (row >= T) return;
  const int kvHead = head / (HQ / HKV);
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + kvHead * DH;
  const float* v = qkv + D + KV + kvHead * DH;
  float* out = attnOut + row * D + head * DH;  // the unnormalised accumulator between the launches
  float* mine = state + (row * HQ + head) * 2;  // m, l

  float m = first ? -INFINITY : mine[0];
  float l = first ? 0.0f : mine[1];
  float acc[DH];
  for (int d = 0; d < DH; ++d) acc[d] = first ? 0.0f : out[d];
  for (int j = begin; j < end && j <= row; ++j) {
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
  mine[0] = m;
  mine[1] = l;
  for (int d = 0; d < DH; ++d) out[d] = first ? acc[d] : acc[d] / l;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  float* state = nullptr;
  cudaMalloc(&state, sizeof(float) * 2 * HQ * T);
  const dim3 grid((T + 31) / 32, HQ);
  const int middle = (T + 1) / 2;
  attendPart<<<grid, 32>>>(qkv, attnOut, state, T, 0, middle, true);
  attendPart<<<grid, 32>>>(qkv, attnOut, state, T, middle, T, false);
  cudaFree(state);
}
