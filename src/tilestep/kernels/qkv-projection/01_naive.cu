// Packed QKV projection, rung 1: a thread an output.
//
// The idea: Q, K and V are three products of the same x, so their weights lie in one matrix and one launch fills all
// of qkv. A thread owns one output, the dot product of a row of x with a row of wQkv. Which slab an output belongs
// to, Q, K or V, is decided by its column alone, and the kernel never asks.
//
// The contract: x [T, D] is normed already; wQkv [QKV_OUT, D] holds one row for each output column, so that
// qkv = x wQkv^T; qkv [T, QKV_OUT] receives Q, K and V side by side. Exactly one launch. T >= 1.
// D and QKV_OUT come from the contract's header, which is included before this file.
//
// The cost: each thread reads both of its rows itself, 2 D values for D multiplications, and the threads of a warp
// stand D values apart in wQkv.

constexpr int THREADS = 256;
static_assert(QKV_OUT % THREADS == 0, "a block's outputs belong to one token");

__global__ void projectNaive(const float* x,     // [T, D]
                             const float* wQkv,  // [QKV_OUT, D]
                             float* qkv) {       // [T, QKV_OUT]
  const int token = blockIdx.y;
  const int column = blockIdx.x * THREADS + threadIdx.x;
  const float* row = x + static_cast<size_t>(token) * D;
  const float* weights = wQkv + static_cast<size_t>(column) * D;

  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += row[i] * weights[i];
  qkv[static_cast<size_t>(token) * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  projectNaive<<<dim3(QKV_OUT / THREADS, T), THREADS>>>(x, wQkv, qkv);
}
