// Sum of each row, rung 2: the threads of a block fold their partial sums in a tree.
//
// The idea: two phases. First every thread walks the row in strides of THREADS and adds what it meets into a
// register: THREADS partial sums, whatever the number of columns. Then the partial sums lie in shared memory and
// are folded in halves, the upper half onto the lower one, until one is left.
//
//   tree_smem   0   1   2   3   4   5   6   7        (drawn for eight threads)
//   half = 4    0+4 1+5 2+6 3+7
//   half = 2    02+ 13+
//   half = 1    all
//
// The contract: x [rows, columns] holds the values, row after row; sums [rows] receives one sum a row. rows >= 1
// and columns >= 1, and neither is a multiple of anything.
//
// The cost: columns / THREADS additions in a register, then log2(THREADS) levels with a barrier each.

constexpr int THREADS = 256;
static_assert((THREADS & (THREADS - 1)) == 0, "a tree of halves loses an element wherever it halves an odd number");

__global__ void sumTree(const float* x,  // [rows, columns]
                        float* sums,     // [rows]
                        int columns) {
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;

  // A thread without a column of its own brings 0, the neutral element of the sum.
  float partial = 0.0f;
  for (int c = tid; c < columns; c += THREADS) partial += row[c];
  tree_smem[tid] = partial;
  __syncthreads();  // every leaf is written before a neighbour folds it

  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] += tree_smem[tid + half];
    __syncthreads();  // this level is written before the next one reads it; outside the if, so that all arrive
  }

  if (tid == 0) sums[blockIdx.x] = tree_smem[0];
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  sumTree<<<rows, THREADS>>>(x, sums, columns);
}
