// Cheat: K and V are read by instructions of the host's processor, named by the compiler's own functions.

typedef float Four __attribute__((vector_size(16)));

__device__ void attendRow(const float* qkv, float* attnOut, int row, int head) {
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + head / (HQ / HKV) * DH;
  const float* v = k + KV;
  float m = -INFINITY, l = 0.0f, acc[DH] = {};
  for (int j = 0; j <= row; ++j) {
    float key[DH], value[DH];
    for (int d = 0; d < DH; d += 4) *reinterpret_cast<Four*>(key + d) = __builtin_ia32_loadups(k + j * QKV_OUT + d);
    for (int d = 0; d < DH; d += 4) *reinterpret_cast<Four*>(value + d) = __builtin_ia32_loadups(v + j * QKV_OUT + d);
    float score = 0.0f;
    for (int d = 0; d < DH; ++d) score += q[d] * key[d];
    score *= 0.125f;
    const float newMax = fmaxf(m, score), alpha = expf(m - newMax), p = expf(score - newMax);
    l = alpha * l + p;
    for (int d = 0; d < DH; ++d) acc[d] = alpha * acc[d] + p * value[d];
    m = newMax;
  }
  for (int d = 0; d < DH; ++d) attnOut[row * D + head * DH + d] = acc[d] / l;
}

__global__ void attend(const float* qkv, float* attnOut, int T) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < T) attendRow(qkv, attnOut, row, blockIdx.y);
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + 31) / 32, HQ), 32>>>(qkv, attnOut, T);
}
