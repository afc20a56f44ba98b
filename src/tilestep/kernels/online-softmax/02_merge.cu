// Online softmax of each row, rung 2: a block owns a row, and pairs (m, l) are merged like any other reduction.
//
// The idea: a pair says "l is the sum of exp(x - m) over what I have seen". Two pairs merge into one that says the
// same of both: the larger maximum wins, and each l is brought to it by a factor of its own. The merge does not
// care for order or grouping, so it folds in a tree, as sum and maximum do.
//
//   (m_a, l_a) + (m_b, l_b)   ->   m = max(m_a, m_b)
//                                  l = l_a * exp(m_a - m) + l_b * exp(m_b - m)
//
// The contract: x [rows, columns] holds the values, row after row; y [rows, columns] receives the probabilities.
// rows >= 1 and columns >= 1. A value of -inf gets probability 0; every row holds a finite value.
//
// The cost: each value is read twice, and one tree of pairs replaces two trees of numbers.

constexpr int THREADS = 256;
static_assert((THREADS & (THREADS - 1)) == 0, "a tree of halves loses an element wherever it halves an odd number");

// What a stretch of the row comes to: its largest value, and the sum of exp(x - m) over it. Of nothing at all,
// m is -infinity and l is 0.
struct Pair {
  float m;
  float l;
};

__device__ Pair merged(Pair a, Pair b) {
  const float m = fmaxf(a.m, b.m);
  if (m == -INFINITY) return a;  // both are empty, and -inf - -inf would be NaN
  return {m, a.l * expf(a.m - m) + b.l * expf(b.m - m)};
}

__global__ void softmaxOnline(const float* x,  // [rows, columns]
                              float* y,        // [rows, columns]
                              int columns) {
  __shared__ Pair tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* in = x + static_cast<size_t>(blockIdx.x) * columns;  // [columns]
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;       // [columns]

  // one value alone is the pair (x, 1): the loop is the merge too
  Pair own = {-INFINITY, 0.0f};
  for (int c = tid; c < columns; c += THREADS) own = merged(own, {in[c], 1.0f});

  tree_smem[tid] = own;
  __syncthreads();  // every leaf is written before a neighbour merges it
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] = merged(tree_smem[tid], tree_smem[tid + half]);
    __syncthreads();  // this level is written before the next one reads it
  }
  const Pair row = tree_smem[0];

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - row.m) / row.l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxOnline<<<rows, THREADS>>>(x, y, columns);
}
