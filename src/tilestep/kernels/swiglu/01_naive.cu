// SwiGLU, rung 1: one thread an output.
//
// The idea: write the definition down. A thread owns one output: it walks the row of x once and takes two dot
// products side by side, with a row of wGate and the same row of wUp; then it applies silu to the first and
// multiplies by the second.
//
//   x [D] --- wGate row ---> gate --- silu ---.
//      \                                       * ---> activated
//       `---- wUp row -----> up   ------------'
//
// The contract: x [T, D] holds the rows; wGate and wUp [F, D] lie output by output, as y = x W^T wants them; activated
// [T, F] receives silu(gate) * up, where silu(z) = z / (1 + exp(-z)). D and F come from the contract's header, which
// is included before this file. T >= 1.
//
// The cost: each output reads 3 * D values from global memory; neighbouring threads read weights 4 * D bytes apart.

constexpr int THREADS = 128;

// z / inf is 0: where exp(-z) overflows, far below 0, silu goes to 0 as it should.
__device__ float silu(float z) { return z / (1.0f + expf(-z)); }

__global__ void swigluNaive(const float* x,      // [T, D]
                            const float* wGate,  // [F, D]
                            const float* wUp,    // [F, D]
                            float* activated) {  // [T, F]
  const int row = blockIdx.y;
  const int o = blockIdx.x * THREADS + threadIdx.x;
  if (o >= F) return;  // no barrier follows

  const float* x_row = x + static_cast<size_t>(row) * D;
  const float* gate_row = wGate + static_cast<size_t>(o) * D;
  const float* up_row = wUp + static_cast<size_t>(o) * D;
  float gate = 0.0f;
  float up = 0.0f;
  for (int k = 0; k < D; ++k) {
    gate = fmaf(x_row[k], gate_row[k], gate);
    up = fmaf(x_row[k], up_row[k], up);
  }
  activated[static_cast<size_t>(row) * F + o] = silu(gate) * up;
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  const dim3 grid((F + THREADS - 1) / THREADS, T);
  swigluNaive<<<grid, THREADS>>>(x, wGate, wUp, activated);
}
