// RMSNorm, rung 2: the block adds the squares together.
//
// The idea: the block sum of the Reduction path, on squares, with one thing more: its result goes back to all
// threads. Each thread keeps its columns in registers between the two passes, so that x is read once.
//
//   x      ->  squares  ->  tree  ->  1 / rms  ->  every thread  ->  x * (1 / rms) * weight
//   read       a thread     shared    shared       a broadcast       written
//
// The contract: x [T, D] holds the rows, weight [D] a factor for each column, y [T, D] receives the normed rows.
// The mean is that of D squares; RMS_EPS is added to it, inside the root, so that a row of zeros stays zeros.
// D and RMS_EPS come from the contract's header, which is included before this file. T >= 1.
//
// The cost: D / THREADS loads and products a thread, and log2(THREADS) levels with a barrier each.

constexpr int THREADS = 256;
constexpr int COLUMNS = D / THREADS;  // columns of a thread
static_assert(D % THREADS == 0, "every thread has as many columns");
static_assert((THREADS & (THREADS - 1)) == 0, "a tree of halves loses an element wherever it halves an odd number");

__global__ void normBlock(const float* x,       // [T, D]
                          const float* weight,  // [D]
                          float* y) {           // [T, D]
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float* out = y + static_cast<size_t>(blockIdx.x) * D;

  float x_reg[COLUMNS];
  float squares = 0.0f;
  for (int n = 0; n < COLUMNS; ++n) {
    x_reg[n] = row[n * THREADS + tid];
    squares = fmaf(x_reg[n], x_reg[n], squares);
  }
  tree_smem[tid] = squares;
  __syncthreads();  // every leaf is written before a neighbour folds it

  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] += tree_smem[tid + half];
    __syncthreads();  // this level is written before the next one, or after the last everybody, reads it
  }

  // Every thread computes the root: cheaper than one that does and a barrier for the others to wait at.
  const float scale = rsqrtf(tree_smem[0] / D + RMS_EPS);
  for (int n = 0; n < COLUMNS; ++n) {
    const int c = n * THREADS + tid;
    out[c] = x_reg[n] * scale * weight[c];
  }
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  normBlock<<<T, THREADS>>>(x, weight, y);
}
