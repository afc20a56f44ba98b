// Softmax of each row, rung 2: warps reduce by shuffles, and meet in shared memory once.
//
// The idea: the same three passes as 01_tree.cu with a cheaper reduction. Five shuffles give every lane its warp's
// result without shared memory; one value a warp is then exchanged, and each warp folds those values again. A
// reduction has two barriers, whatever the width of the block.
//
// The contract: x [rows, columns] holds the values, row after row; y [rows, columns] receives the probabilities.
// rows >= 1 and columns >= 1. A value of -inf gets probability 0; every row holds a finite value.
//
// The cost: each value is read three times; ten shuffles and two barriers a reduction, where the tree of 256 has
// ten barriers.

constexpr int WARP = 32;
constexpr int WARPS = 8;
constexpr int THREADS = WARPS * WARP;
constexpr unsigned FULL = 0xffffffffu;

struct Larger {
  __device__ static float neutral() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Plus {
  __device__ static float neutral() { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Every lane gets the warp's result: at each step the pairs swap what they have, so both end with the same.
template <class Op>
__device__ float warpReduce(float value, Op op) {
#pragma unroll
  for (int step = WARP / 2; step > 0; step /= 2) value = op(value, __shfl_xor_sync(FULL, value, step));
  return value;
}

// Every thread gets the block's result. All threads of the block must call it; warp_smem may be reused at once.
template <class Op>
__device__ float blockReduce(float value, float* warp_smem /* [WARPS] */, Op op) {
  const int lane = threadIdx.x % WARP;
  value = warpReduce(value, op);
  if (lane == 0) warp_smem[threadIdx.x / WARP] = value;
  __syncthreads();  // every warp's value is there before any warp folds them
  value = warpReduce(lane < WARPS ? warp_smem[lane] : Op::neutral(), op);
  __syncthreads();  // every warp has read before the next reduction overwrites
  return value;
}

__global__ void softmaxShuffles(const float* x,  // [rows, columns]
                                float* y,        // [rows, columns]
                                int columns) {
  __shared__ float warp_smem[WARPS];

  const float* in = x + static_cast<size_t>(blockIdx.x) * columns;  // [columns]
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;       // [columns]

  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += THREADS) m = fmaxf(m, in[c]);
  m = blockReduce(m, warp_smem, Larger());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += THREADS) sum += expf(in[c] - m);
  sum = blockReduce(sum, warp_smem, Plus());

  for (int c = threadIdx.x; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxShuffles<<<rows, THREADS>>>(x, y, columns);
}
