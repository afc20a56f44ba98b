// Wrong: the tables are read at the token's place in its block of eight.
constexpr int PAIRS = DH / 2;
constexpr int TOKENS = 8;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable, int T) {
  const int token = blockIdx.x * TOKENS + threadIdx.y;
  if (token >= T) return;
  const int d = threadIdx.x;
  const float c = cosTable[threadIdx.y * PAIRS + d];
  const float s = sinTable[threadIdx.y * PAIRS + d];
  for (int head = 0; head < HQ + HKV; ++head) {
    float* pair = qkv + token * QKV_OUT + head * DH + d;
    const float low = pair[0];
    const float high = pair[PAIRS];
    pair[0] = low * c - high * s;
    pair[PAIRS] = high * c + low * s;
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<(T + TOKENS - 1) / TOKENS, dim3(PAIRS, TOKENS)>>>(qkv, cosTable, sinTable, T);
}
