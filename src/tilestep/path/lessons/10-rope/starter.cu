// Stage 10, RoPE in place: every head of Q and K in qkv [T, QKV_OUT] is turned; V stays.
//
// Here a thread owns one dim. It reads the partner's value while the partner's thread overwrites it.

constexpr int PAIRS = DH / 2;             // in a head: dims d and d + PAIRS
constexpr int ROTATED = (HQ + HKV) * DH;  // columns of a row that turn: Q and K

__global__ void rotate(float* qkv,             // [T, QKV_OUT]
                       const float* cosTable,  // [T, PAIRS]
                       const float* sinTable) {
  const int token = blockIdx.x;
  const int dim = threadIdx.x % DH;
  const int d = dim % PAIRS;
  float* head = qkv + token * QKV_OUT + threadIdx.x / DH * DH;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];

  // TODO: both new values need both old ones. Let one thread own the pair: read both, then write both.
  if (dim < PAIRS) {
    head[dim] = head[dim] * c - head[dim + PAIRS] * s;
  } else {
    head[dim] = head[dim] * c + head[dim - PAIRS] * s;
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T, ROTATED>>>(qkv, cosTable, sinTable);
}
