// Stage 2, block maximum: maxima[r] is the largest value of row r of x [rows, columns].
//
// The tree of stage 1 with fmaxf in place of +. It is right as long as some value of the row is not negative.

constexpr int THREADS = 256;

__global__ void maxOfRows(const float* x,  // [rows, columns]
                          float* maxima,   // [rows]
                          int columns) {
  __shared__ float tree_smem[THREADS];

  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;

  // TODO: what must a thread bring that has no column, so that the maximum stays as it is?
  float largest = 0.0f;
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
  maxOfRows<<<rows, THREADS>>>(x, maxima, columns);
}
