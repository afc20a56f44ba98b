// Softmax of each row, rung 1: a block owns a row, and two tree reductions make its threads agree.
//
// The idea: the three passes stay, but each pass is shared out. A thread strides over the row with its own maximum
// and its own sum in registers; a tree in shared memory makes one of THREADS, and every thread reads it back before
// the next pass, since each of them needs the row's maximum and the row's sum.
//
//   own maximum  ->  tree  ->  m, for all      own sum of exp(x - m)  ->  tree  ->  sum, for all      write
//
// The contract: x [rows, columns] holds the values, row after row; y [rows, columns] receives the probabilities.
// rows >= 1 and columns >= 1. A value of -inf gets probability 0; every row holds a finite value.
//
// The cost: each value is read three times, now by neighbouring threads from neighbouring addresses; two trees with
// log2(THREADS) levels and as many barriers each.

constexpr int THREADS = 256;
static_assert((THREADS & (THREADS - 1)) == 0, "a tree of halves loses an element wherever it halves an odd number");

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Folds one value a thread into one for the block, which every thread gets. All threads of the block must call it;
// tree_smem may be reused at once.
template <class Op>
__device__ float blockReduce(float value, float* tree_smem /* [THREADS] */, Op op) {
  const int tid = threadIdx.x;
  tree_smem[tid] = value;
  __syncthreads();  // every leaf is written before a neighbour folds it
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree_smem[tid] = op(tree_smem[tid], tree_smem[tid + half]);
    __syncthreads();  // this level is written before the next one reads it
  }
  const float result = tree_smem[0];
  __syncthreads();  // everyone has read the result before the next reduction overwrites it
  return result;
}

__global__ void softmaxTree(const float* x,  // [rows, columns]
                            float* y,        // [rows, columns]
                            int columns) {
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* in = x + static_cast<size_t>(blockIdx.x) * columns;  // [columns]
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;       // [columns]

  // A thread without a column of its own brings the neutral element: -infinity to the maximum, 0 to the sum.
  float m = -INFINITY;
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = blockReduce(m, tree_smem, Larger());

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c] - m);
  sum = blockReduce(sum, tree_smem, Plus());

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxTree<<<rows, THREADS>>>(x, y, columns);
}
