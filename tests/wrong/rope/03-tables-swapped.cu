// Wrong: the tables are passed in the wrong order.
constexpr int PAIRS = DH / 2;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  const int token = blockIdx.x;
  const int head = threadIdx.x / PAIRS;
  const int d = threadIdx.x % PAIRS;
  float* pair = qkv + token * QKV_OUT + head * DH + d;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];
  const float low = pair[0];
  const float high = pair[PAIRS];
  pair[0] = low * c - high * s;
  pair[PAIRS] = high * c + low * s;
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T, (HQ + HKV) * PAIRS>>>(qkv, sinTable, cosTable);
}
