// RoPE in place, rung 2: a thread four pairs, in four vector accesses.
//
// The idea: RoPE does six operations for four floats of traffic, so memory is all that it waits for. In the half-split
// layout the partners of four neighbouring dims are four neighbouring dims too: a thread reads one float4 of lows and
// one of highs, turns four pairs, and writes two float4s. A quarter of the instructions moves the same bytes.
//
// The contract: qkv [T, QKV_OUT] holds Q, K and V side by side and is changed in place: every head of Q and K is
// rotated, V stays as it is, bit for bit. cosTable and sinTable [T, DH / 2] hold the rotation of each token and pair.
// T >= 1. D, HQ, HKV, DH and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: Q and K once in and once out, 5120 bytes a token, and 256 bytes of tables, which come from cache after
// the first head.

constexpr int PAIRS = DH / 2;  // in a head
constexpr int QUADS = PAIRS / 4;
constexpr int QUADS_PER_TOKEN = (HQ + HKV) * QUADS;
constexpr int THREADS = 256;
static_assert(PAIRS % 4 == 0, "a half of a head is whole float4s");
static_assert(QKV_OUT % 4 == 0, "every row begins at a multiple of 16 bytes");

__global__ void __launch_bounds__(THREADS) rotateQuads(float* qkv,             // [T, QKV_OUT]
                                                       const float* cosTable,  // [T, PAIRS]
                                                       const float* sinTable,  // [T, PAIRS]
                                                       int quads) {
  const int index = blockIdx.x * THREADS + threadIdx.x;
  if (index >= quads) return;  // no barrier follows

  const int token = index / QUADS_PER_TOKEN;
  const int head = index % QUADS_PER_TOKEN / QUADS;
  const int quad = index % QUADS;
  float4* half = reinterpret_cast<float4*>(qkv + static_cast<size_t>(token) * QKV_OUT + head * DH);
  const float4 c = reinterpret_cast<const float4*>(cosTable + token * PAIRS)[quad];
  const float4 s = reinterpret_cast<const float4*>(sinTable + token * PAIRS)[quad];

  const float4 low = half[quad];
  const float4 high = half[quad + QUADS];
  half[quad] = make_float4(low.x * c.x - high.x * s.x, low.y * c.y - high.y * s.y, low.z * c.z - high.z * s.z,
                           low.w * c.w - high.w * s.w);
  half[quad + QUADS] = make_float4(high.x * c.x + low.x * s.x, high.y * c.y + low.y * s.y,
                                   high.z * c.z + low.z * s.z, high.w * c.w + low.w * s.w);
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  const int quads = T * QUADS_PER_TOKEN;
  rotateQuads<<<(quads + THREADS - 1) / THREADS, THREADS>>>(qkv, cosTable, sinTable, quads);
}
