// Wrong: a thread owns one dim and reads its partner, which the partner's thread overwrites meanwhile.
constexpr int PAIRS = DH / 2;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  const int token = blockIdx.x;
  const int dim = threadIdx.x % DH;
  const int d = dim % PAIRS;
  float* head = qkv + token * QKV_OUT + threadIdx.x / DH * DH;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];
  if (dim < PAIRS) {
    head[dim] = head[dim] * c - head[dim + PAIRS] * s;
  } else {
    head[dim] = head[dim] * c + head[dim - PAIRS] * s;
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T, D + KV>>>(qkv, cosTable, sinTable);
}
