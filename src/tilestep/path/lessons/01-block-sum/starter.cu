// Stage 1, block sum: sums[r] is the sum of row r of x [rows, columns].
//
// Here each thread adds its own columns. The partial sums of the other 255 threads never reach thread 0.

constexpr int THREADS = 256;

__global__ void sumRows(const float* x,  // [rows, columns]
                        float* sums,     // [rows]
                        int columns) {
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;

  float partial = 0.0f;  // a thread without a column brings 0
  for (int c = tid; c < columns; c += THREADS) partial += row[c];

  // TODO: put the partial sums into a shared array and fold them in a tree: halves of 128, 64, ... 1.
  // Every level reads what other threads wrote in the level before.

  if (tid == 0) sums[blockIdx.x] = partial;
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  sumRows<<<rows, THREADS>>>(x, sums, columns);
}
