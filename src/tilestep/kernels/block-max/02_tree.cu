// Maximum of each row: the tree of the block sum, with another neutral element.
//
// The idea: a tree folds with any operation that is associative and commutative. What changes with the operation
// is what a thread brings that has no column: 0 leaves a sum as it is, and -infinity leaves a maximum as it is.
//
// The contract: x [rows, columns] holds the values, row after row; maxima [rows] receives the largest of each row.
// All values of a row may be negative, and some or all may be -infinity: a row of only -infinity gives -infinity.
// There are no NaN. rows >= 1 and columns >= 1, and neither is a multiple of anything.
//
// The cost: that of the sum. A maximum rounds nothing, so the result is exact in any order.

constexpr int THREADS = 256;
static_assert((THREADS & (THREADS - 1)) == 0, "a tree of halves loses an element wherever it halves an odd number");

__global__ void maxTree(const float* x,  // [rows, columns]
                        float* maxima,   // [rows]
                        int columns) {
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;

  float largest = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) largest = fmaxf(largest, row[c]);
  tree_smem[tid] = largest;
  __syncthreads();  // every leaf is written before a neighbour folds it

  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] = fmaxf(tree_smem[tid], tree_smem[tid + half]);
    __syncthreads();  // this level is written before the next one reads it
  }

  if (tid == 0) maxima[blockIdx.x] = tree_smem[0];
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  maxTree<<<rows, THREADS>>>(x, maxima, columns);
}
