// RMSNorm, rung 3: a warp a row, without a barrier.
//
// The idea: a row of D = 512 values is 16 a lane, as four float4. A warp holds it in registers, folds the squares
// by five shuffles that leave the sum in every lane, and needs neither shared memory nor a barrier. A block is four
// rows that know nothing of each other.
//
// The contract: x [T, D] holds the rows, weight [D] a factor for each column, y [T, D] receives the normed rows.
// The mean is that of D squares; RMS_EPS is added to it, inside the root, so that a row of zeros stays zeros.
// D and RMS_EPS come from the contract's header, which is included before this file. T >= 1.
//
// The cost: x is read once and y written once, 16 bytes a load; the weight comes from the cache.

constexpr int LANES = 32;
constexpr int WARPS = 4;                    // rows of a block
constexpr int QUADS = D / (4 * LANES);      // float4 of a lane
constexpr unsigned ALL_LANES = 0xffffffffu;
static_assert(D % (4 * LANES) == 0, "every lane has as many float4");

__global__ void normWarp(const float4* x,       // [T, D / 4]
                         const float4* weight,  // [D / 4]
                         float4* y,             // [T, D / 4]
                         int T) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
  if (row >= T) return;  // the whole warp leaves: its lanes all have the same row, so no shuffle misses one

  const size_t begin = static_cast<size_t>(row) * (D / 4);
  float4 x_reg[QUADS];
  float squares = 0.0f;
  for (int n = 0; n < QUADS; ++n) {
    const float4 v = x[begin + n * LANES + lane];  // neighbouring lanes, neighbouring 16 bytes
    squares = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, squares))));
    x_reg[n] = v;
  }

  // xor, not down: all 32 lanes need the sum
  for (int distance = LANES / 2; distance > 0; distance /= 2) {
    squares += __shfl_xor_sync(ALL_LANES, squares, distance);
  }

  const float scale = rsqrtf(squares / D + RMS_EPS);
  for (int n = 0; n < QUADS; ++n) {
    const float4 v = x_reg[n];
    const float4 w = weight[n * LANES + lane];
    y[begin + n * LANES + lane] =
        make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
  }
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  const float4* rows = reinterpret_cast<const float4*>(x);
  const float4* factors = reinterpret_cast<const float4*>(weight);
  normWarp<<<(T + WARPS - 1) / WARPS, WARPS * LANES>>>(rows, factors, reinterpret_cast<float4*>(y), T);
}
