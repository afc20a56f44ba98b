// A projection and its residual: what stands between the steps of the block.
//
// The idea: a block owns 64 x 64 outputs and every thread 4 x 4 of them, in registers. For each step of the inner
// dimension a thread reads four values of x and four weights from shared memory and makes sixteen products of them,
// so that the multipliers work and not the loads. The tiles lie turned in shared memory, the inner dimension first:
// the four values are then one 16-byte load.
//
// The contract: x [T, K] is projected by weight [D, K], so that projected = x weight^T [T, D]; sum [T, D] receives
// residual [T, D] + projected. K is a multiple of 16. T >= 1, and is no multiple of anything. D comes from the
// contract's header, which is included before this file.
//
// It is no step of the path: the judge runs it where the block goes on behind a kernel that is judged.

constexpr int TILE = 64;   // rows of x, and rows of weight, that a block holds
constexpr int DEPTH = 16;  // of the inner dimension between two barriers
constexpr int SIDE = 4;    // a thread owns SIDE x SIDE outputs
constexpr int ACROSS = TILE / SIDE;
constexpr int THREADS = ACROSS * ACROSS;
constexpr int QUADS = DEPTH / 4;  // float4 in a row of a tile, as it lies in global memory
constexpr int PAD = 1;            // float4; the turned stores then meet different banks
static_assert(D % TILE == 0, "only the rows have a ragged end");
static_assert(THREADS == TILE * QUADS, "a thread stages one float4 of either tile");

__device__ float4 plusScaled(float4 sum, float factor, float4 a) {
  return make_float4(fmaf(factor, a.x, sum.x), fmaf(factor, a.y, sum.y), fmaf(factor, a.z, sum.z),
                     fmaf(factor, a.w, sum.w));
}

// Stores four neighbours of the inner dimension below each other.
__device__ void storeTurned(float4 (*tile_smem)[ACROSS + PAD], int quad, int row, float4 a) {
  reinterpret_cast<float*>(tile_smem[4 * quad])[row] = a.x;
  reinterpret_cast<float*>(tile_smem[4 * quad + 1])[row] = a.y;
  reinterpret_cast<float*>(tile_smem[4 * quad + 2])[row] = a.z;
  reinterpret_cast<float*>(tile_smem[4 * quad + 3])[row] = a.w;
}

__global__ void __launch_bounds__(THREADS) projectAndAdd(const float* x,         // [T, K]
                                                        const float* weight,    // [D, K]
                                                        const float* residual,  // [T, D]
                                                        float* projected,       // [T, D]
                                                        float* sum,             // [T, D]
                                                        int T, int K) {
  __shared__ float4 x_smem[DEPTH][ACROSS + PAD];
  __shared__ float4 w_smem[DEPTH][ACROSS + PAD];

  const int tid = threadIdx.x;
  const int across = tid % ACROSS;  // which four of the block's columns, as one float4
  const int down = tid / ACROSS;    // which four of its rows
  const int row0 = blockIdx.y * TILE;
  const int column0 = blockIdx.x * TILE;
  const int staged = tid / QUADS;  // the row of either tile that this thread stages, and where in it
  const int quad = tid % QUADS;
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const bool inside = row0 + staged < T;
  const float* xRow = x + static_cast<size_t>(inside ? row0 + staged : 0) * K;
  const float* wRow = weight + static_cast<size_t>(column0 + staged) * K;

  float4 acc[SIDE] = {zero, zero, zero, zero};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    storeTurned(x_smem, quad, staged, inside ? reinterpret_cast<const float4*>(xRow + k0)[quad] : zero);
    storeTurned(w_smem, quad, staged, reinterpret_cast<const float4*>(wRow + k0)[quad]);
    __syncthreads();  // both tiles are complete before any thread multiplies with them
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const float4 a = x_smem[k][down];
      const float4 w = w_smem[k][across];
      acc[0] = plusScaled(acc[0], a.x, w);
      acc[1] = plusScaled(acc[1], a.y, w);
      acc[2] = plusScaled(acc[2], a.z, w);
      acc[3] = plusScaled(acc[3], a.w, w);
    }
    __syncthreads();  // everyone is done with these tiles before the next ones overwrite them
  }

#pragma unroll
  for (int r = 0; r < SIDE; ++r) {
    const int row = row0 + down * SIDE + r;
    if (row < T) {
      const size_t offset = static_cast<size_t>(row) * D + column0;
      reinterpret_cast<float4*>(projected + offset)[across] = acc[r];
      reinterpret_cast<float4*>(sum + offset)[across] =
          plusScaled(acc[r], 1.0f, reinterpret_cast<const float4*>(residual + offset)[across]);
    }
  }
}

void runProjection(const float* x, const float* weight, const float* residual, float* projected, float* sum, int T,
                   int K) {
  const dim3 grid(D / TILE, (T + TILE - 1) / TILE);
  projectAndAdd<<<grid, THREADS>>>(x, weight, residual, projected, sum, T, K);
}
