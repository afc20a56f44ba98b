// Stage 8, SwiGLU: activated = silu(x wGate^T) * (x wUp^T), for x [T, D] and weights [F, D].
//
// Here each thread makes one output, and stores the gate as it is. wUp is not read.

constexpr int THREADS = 128;

// TODO: silu(z) = z / (1 + exp(-z)). What does your way of writing it give at z = -100, and at z = 100?
__device__ float silu(float z) { return z; }

__global__ void swigluRows(const float* x,      // [T, D]
                           const float* wGate,  // [F, D]
                           const float* wUp,    // [F, D]
                           float* activated) {  // [T, F]
  const int row = blockIdx.y;
  const int o = blockIdx.x * THREADS + threadIdx.x;
  if (o >= F) return;  // no barrier follows

  const float* x_row = x + static_cast<size_t>(row) * D;
  const float* gate_row = wGate + static_cast<size_t>(o) * D;
  float gate = 0.0f;
  for (int k = 0; k < D; ++k) gate += x_row[k] * gate_row[k];

  // TODO: up is a second dot product, with row o of wUp. x_row[k] is at hand in the loop above.

  activated[static_cast<size_t>(row) * F + o] = silu(gate);
}

void runSwiGlu(const float* x, const float* wGate, const float* wUp, float* activated, int T) {
  const dim3 grid((F + THREADS - 1) / THREADS, T);
  swigluRows<<<grid, THREADS>>>(x, wGate, wUp, activated);
}
