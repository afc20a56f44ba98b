// RoPE in place, rung 1: a thread a pair.
//
// The idea: dims d and d + 32 of a head are a point in the plane, and RoPE turns it by an angle that grows with the
// token's position. Both new values need both old ones, and they go back to where the old ones stood. So one thread
// owns the pair: it reads both, then writes both, and nobody else comes near.
//
//   head   | 0  1 ... d ... 31 | 32 ... d+32 ... 63 |
//                     low                high
//   low'  = low * cos - high * sin
//   high' = high * cos + low * sin
//
// The contract: qkv [T, QKV_OUT] holds Q, K and V side by side and is changed in place: every head of Q and K is
// rotated, V stays as it is, bit for bit. cosTable and sinTable [T, DH / 2] hold the rotation of each token and pair.
// T >= 1. D, HQ, HKV, DH and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: four floats of traffic for each pair and two loads from the tables, which ten heads share.

constexpr int PAIRS = DH / 2;                       // in a head
constexpr int ROTATED_PAIRS = (HQ + HKV) * PAIRS;  // in a token: Q and K stand side by side, V comes after them

__global__ void __launch_bounds__(ROTATED_PAIRS) rotatePairs(float* qkv,             // [T, QKV_OUT]
                                                             const float* cosTable,  // [T, PAIRS]
                                                             const float* sinTable) {
  const int token = blockIdx.x;
  const int head = threadIdx.x / PAIRS;  // 0 to HQ - 1 are Q's, the next HKV are K's
  const int d = threadIdx.x % PAIRS;
  float* pair = qkv + static_cast<size_t>(token) * QKV_OUT + head * DH + d;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];

  // Both old values are in registers before either place is written: the second formula needs the old low.
  const float low = pair[0];
  const float high = pair[PAIRS];
  pair[0] = low * c - high * s;
  pair[PAIRS] = high * c + low * s;
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotatePairs<<<T, ROTATED_PAIRS>>>(qkv, cosTable, sinTable);
}
