// Packed QKV projection, rung 2: tiles of x and wQkv are shared.
//
// The idea: TILE x TILE outputs need TILE rows of x and TILE rows of wQkv, and each value of either serves TILE
// outputs. A block walks along the inner dimension in steps of TILE: it stages a tile of x and a tile of wQkv in
// shared memory, and every thread adds that part of its dot product.
//
//            i, in steps of TILE -->
//   x     [ ....##.... ]  tokens       the marked tiles of x and wQkv meet in the block's
//   wQkv  [ ....##.... ]  columns      TILE x TILE outputs, and then both move on
//
// Both matrices run along i in memory, so a tile is read in rows, neighbours side by side: a product with a
// transpose needs no transposed read.
//
// The contract: x [T, D] is normed already; wQkv [QKV_OUT, D] holds one row for each output column, so that
// qkv = x wQkv^T; qkv [T, QKV_OUT] receives Q, K and V side by side. Exactly one launch. T >= 1.
// D and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: each value is read from global memory once for TILE outputs, where 01_naive.cu reads it for every one.

constexpr int TILE = 16;
static_assert(D % TILE == 0, "the last tile of the inner dimension is whole");
static_assert(QKV_OUT % TILE == 0, "every tile of columns is whole");

__global__ void __launch_bounds__(TILE* TILE) projectTiled(const float* x,     // [T, D]
                                                           const float* wQkv,  // [QKV_OUT, D]
                                                           float* qkv,         // [T, QKV_OUT]
                                                           int T) {
  // One column wider than needed: threads that walk down a tile then meet different banks.
  __shared__ float x_smem[TILE][TILE + 1];
  __shared__ float w_smem[TILE][TILE + 1];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int token = blockIdx.y * TILE + ty;
  const int column = blockIdx.x * TILE + tx;
  const float* weights = wQkv + static_cast<size_t>(blockIdx.x * TILE + ty) * D;  // the row that it stages

  float sum = 0.0f;
  for (int start = 0; start < D; start += TILE) {
    // A token past the end brings 0; its thread stays, for the barriers and for the part of wQkv that it stages.
    x_smem[ty][tx] = token < T ? x[static_cast<size_t>(token) * D + start + tx] : 0.0f;
    w_smem[ty][tx] = weights[start + tx];
    __syncthreads();  // both tiles are complete before any thread multiplies with them
    for (int i = 0; i < TILE; ++i) sum += x_smem[ty][i] * w_smem[tx][i];
    __syncthreads();  // everyone is done with these tiles before the next ones overwrite them
  }
  if (token < T) qkv[static_cast<size_t>(token) * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  projectTiled<<<dim3(QKV_OUT / TILE, (T + TILE - 1) / TILE), dim3(TILE, TILE)>>>(x, wQkv, qkv, T);
}
