// Wrong: the softmax runs over the eight heads of a pair instead of over the keys of a row.

constexpr int THREADS = HQ * 8;  // eight threads a head, eight dims a thread

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float parts[THREADS];
  const int row = blockIdx.x;
  const int head = threadIdx.x / 8;
  const int dim0 = threadIdx.x % 8 * 8;
  const int kvHead = head / (HQ / HKV);
  float acc[8] = {};
  for (int j = 0; j <= row; ++j) {
    const float* q = qkv + row * QKV_OUT + head * DH + dim0;
    const float* k = qkv + j * QKV_OUT + D + kvHead * DH + dim0;
    float part = 0.0f;
    for (int n = 0; n < 8; ++n) part += q[n] * k[n] * 0.125f;
    __syncthreads();  // the parts of the key before are no longer read
    parts[threadIdx.x] = part;
    __syncthreads();  // all parts are there
    float scores[HQ] = {};
    float largest = -INFINITY;
    for (int h = 0; h < HQ; ++h) {
      for (int n = 0; n < 8; ++n) scores[h] += parts[h * 8 + n];
      largest = fmaxf(largest, scores[h]);
    }
    float sum = 0.0f;
    for (int h = 0; h < HQ; ++h) sum += expf(scores[h] - largest);
    const float weight = expf(scores[head] - largest) / sum;
    for (int n = 0; n < 8; ++n) acc[n] += weight * k[KV + n];
  }
  for (int n = 0; n < 8; ++n) attnOut[row * D + head * DH + dim0 + n] = acc[n];
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<T, THREADS>>>(qkv, attnOut, T);
}
