// Stage 6, online softmax: row r of y holds the probabilities of row r of x, both [rows, columns].
//
// Here a block owns a row and each thread walks its columns once, with a running maximum m and a running sum l of
// exp(x - m). But when m moves, what l already holds stays relative to the old one.

constexpr int THREADS = 256;

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Folds one value a thread into one for the block, which every thread gets; tree_smem may be reused at once.
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

__global__ void softmaxRows(const float* x,  // [rows, columns]
                            float* y,        // [rows, columns]
                            int columns) {
  __shared__ float tree_smem[THREADS];
  const int tid = threadIdx.x;
  const float* in = x + static_cast<size_t>(blockIdx.x) * columns;  // [columns]
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;       // [columns]

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = tid; c < columns; c += THREADS) {
    if (in[c] == -INFINITY) continue;  // it adds nothing, and -inf - -inf is NaN
    const float newM = fmaxf(m, in[c]);
    // TODO: l is relative to m, and the new exponential to newM. One factor brings l to newM.
    l = l + expf(in[c] - newM);
    m = newM;
  }

  const float rowM = blockReduce(m, tree_smem, Larger());
  // TODO: l is relative to this thread's m, and the sum must be relative to rowM.
  const float rowL = blockReduce(l, tree_smem, Plus());

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - rowM) / rowL;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxRows<<<rows, THREADS>>>(x, y, columns);
}
