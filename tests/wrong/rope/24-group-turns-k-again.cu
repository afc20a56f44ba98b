// Wrong: each of Q's heads turns its K head as well, so four blocks turn the same K head at once.
constexpr int PAIRS = DH / 2;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  const int token = blockIdx.x / HQ;
  const int head = blockIdx.x % HQ;
  const int d = threadIdx.x;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];
  for (int column : {head * DH, D + head / (HQ / HKV) * DH}) {
    float* pair = qkv + token * QKV_OUT + column + d;
    const float low = pair[0];
    const float high = pair[PAIRS];
    pair[0] = low * c - high * s;
    pair[PAIRS] = high * c + low * s;
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T * HQ, PAIRS>>>(qkv, cosTable, sinTable);
}
