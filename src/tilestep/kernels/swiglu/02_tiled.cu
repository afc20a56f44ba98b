// SwiGLU, rung 2: tiles of both weights in shared memory.
//
// The idea: with one thread an output, neighbouring threads read weights 2048 bytes apart, and every row of x reads
// all weights again. Here a block owns 64 outputs of eight rows. It walks the inner dimension in tiles of 32: loads
// the tile's part of both weights and of x side by side, waits, adds the tile's terms, waits, goes on. A weight is
// loaded once for eight rows.
//
//   for each tile of k:   load wGate [64, 32], wUp [64, 32], x [8, 32]  |  barrier  |  add 32 terms  |  barrier
//
// The contract: x [T, D] holds the rows; wGate and wUp [F, D] lie output by output, as y = x W^T wants them; activated
// [T, F] receives silu(gate) * up, where silu(z) = z / (1 + exp(-z)). D and F come from the contract's header, which
// is included before this file. T >= 1, and is no multiple of anything.
//
// The cost: (2 * F * D) / 8 weights a row from global memory, an eighth of rung 1, in whole 128-byte lines.

constexpr int THREADS = 64;
constexpr int OUTPUTS = THREADS;  // outputs of a block: one a thread
constexpr int ROWS = 8;           // rows of x that share a load of the weights
constexpr int TILE = 32;          // terms of the dot products between two barriers
constexpr int PAD = 1;            // without it the threads of a warp would all read from one bank
static_assert(F % OUTPUTS == 0 && D % TILE == 0, "only the rows have a ragged end");

// z / inf is 0: where exp(-z) overflows, far below 0, silu goes to 0 as it should.
__device__ float silu(float z) { return z / (1.0f + expf(-z)); }

__global__ void __launch_bounds__(THREADS) swigluTiled(const float* x,      // [T, D]
                                                      const float* wGate,  // [F, D]
                                                      const float* wUp,    // [F, D]
                                                      float* activated,    // [T, F]
                                                      int T) {
  __shared__ float gate_smem[OUTPUTS][TILE + PAD];
  __shared__ float up_smem[OUTPUTS][TILE + PAD];
  __shared__ float x_smem[ROWS][TILE];

  const int tid = threadIdx.x;
  const int output0 = blockIdx.x * OUTPUTS;
  const int row0 = blockIdx.y * ROWS;
  const int rows = min(ROWS, T - row0);  // the last block has fewer

  float gate[ROWS] = {};
  float up[ROWS] = {};
  for (int k0 = 0; k0 < D; k0 += TILE) {
    for (int n = tid; n < OUTPUTS * TILE; n += THREADS) {
      const int o = n / TILE;
      const int k = n % TILE;  // neighbouring threads, neighbouring addresses
      const size_t offset = static_cast<size_t>(output0 + o) * D + k0 + k;
      gate_smem[o][k] = wGate[offset];
      up_smem[o][k] = wUp[offset];
    }
    for (int n = tid; n < rows * TILE; n += THREADS) {
      x_smem[n / TILE][n % TILE] = x[static_cast<size_t>(row0 + n / TILE) * D + k0 + n % TILE];
    }
    __syncthreads();  // the tile is complete before anybody reads a neighbour's part of it

    for (int k = 0; k < TILE; ++k) {
      const float w_gate = gate_smem[tid][k];
      const float w_up = up_smem[tid][k];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {  // a constant length, so that the sums stay in registers
        if (r < rows) {
          gate[r] = fmaf(x_smem[r][k], w_gate, gate[r]);
          up[r] = fmaf(x_smem[r][k], w_up, up[r]);
        }
      }
    }
    __syncthreads();  // everyone is done with the tile before the next one overwrites it
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (r < rows) activated[static_cast<size_t>(row0 + r) * F + output0 + tid] = silu(gate[r]) * up[r];
  }
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  const dim3 grid(F / OUTPUTS, (T + ROWS - 1) / ROWS);
  swigluTiled<<<grid, THREADS>>>(x, wGate, wUp, activated, T);
}
