// Wrong: the score row has 64 places: from row 64 on it overruns into what lies behind it.

constexpr int THREADS = 128;

__device__ float blockMax(float value, float* tree) {
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = tree[0];
  __syncthreads();
  return result;
}

__device__ float blockSum(float value, float* tree) {
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  const float result = tree[0];
  __syncthreads();
  return result;
}

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float scores[64];
  __shared__ float tree[THREADS];
  const int tid = threadIdx.x;
  const int row = blockIdx.x / HQ;
  const int head = blockIdx.x % HQ;
  const int kvHead = head / (HQ / HKV);
  const float* q = qkv + row * QKV_OUT + head * DH;
  const float* k = qkv + D + kvHead * DH;
  const float* v = qkv + D + KV + kvHead * DH;

  float largest = -INFINITY;
  for (int j = tid; j <= row; j += THREADS) {
    float score = 0.0f;
    for (int d = 0; d < DH; ++d) score += q[d] * k[j * QKV_OUT + d];
    scores[j] = score * 0.125f;
    largest = fmaxf(largest, scores[j]);
  }
  largest = blockMax(largest, tree);

  float sum = 0.0f;
  for (int j = tid; j <= row; j += THREADS) {
    scores[j] = expf(scores[j] - largest);
    sum += scores[j];
  }
  sum = blockSum(sum, tree);

  for (int d = tid; d < DH; d += THREADS) {
    float total = 0.0f;
    for (int j = 0; j <= row; ++j) total += scores[j] * v[j * QKV_OUT + d];
    attnOut[row * D + head * DH + d] = total / sum;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<T * HQ, THREADS>>>(qkv, attnOut, T);
}
