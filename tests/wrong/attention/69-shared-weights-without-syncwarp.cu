// Wrong: lanes hand their weights on through shared memory without __syncwarp.

constexpr int WARPS = 4;

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float weights[WARPS][32];
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  const int head = blockIdx.y;
  if (row >= T) return;  // a whole warp leaves
  const int kvHead = head / (HQ / HKV);
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + kvHead * DH;
  const float* v = qkv + D + KV + kvHead * DH;

  float m = -INFINITY;
  float l = 0.0f;
  float low = 0.0f;   // dim lane
  float high = 0.0f;  // dim lane + 32
  for (int key0 = 0; key0 <= row; key0 += 32) {
    const int j = key0 + lane;
    float score = -INFINITY;
    if (j <= row) {
      score = 0.0f;
      for (int d = 0; d < DH; ++d) score += q[d] * k[j * QKV_OUT + d];
      score *= 0.125f;
    }
    float newMax = score;
    for (int step = 16; step > 0; step /= 2) newMax = fmaxf(newMax, __shfl_xor_sync(0xffffffffu, newMax, step));
    newMax = fmaxf(newMax, m);
    const float alpha = expf(m - newMax);
    const float p = expf(score - newMax);
    weights[threadIdx.x / 32][lane] = p;
    l = alpha * l + p;  // this lane's share
    low *= alpha;
    high *= alpha;
    for (int n = 0; n < 32 && key0 + n <= row; ++n) {
      const float weight = weights[threadIdx.x / 32][n];
      low += weight * v[(key0 + n) * QKV_OUT + lane];
      high += weight * v[(key0 + n) * QKV_OUT + lane + 32];
    }
    m = newMax;
  }
  for (int step = 16; step > 0; step /= 2) l += __shfl_xor_sync(0xffffffffu, l, step);
  attnOut[row * D + head * DH + lane] = low / l;
  attnOut[row * D + head * DH + lane + 32] = high / l;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + WARPS - 1) / WARPS, HQ), WARPS * 32>>>(qkv, attnOut, T);
}
