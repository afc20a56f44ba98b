// Right: the row is kept in dynamic shared memory, so that global memory is read once; contiguous chunks a thread.

constexpr int THREADS = 64;

__global__ void softmax(const float* x, float* y, int columns) {
  extern __shared__ float row[];  // [columns] values, then exponentials
  __shared__ float partial[THREADS];
  const int tid = threadIdx.x;
  const int chunk = (columns + THREADS - 1) / THREADS;
  const int begin = min(tid * chunk, columns);
  const int end = min(begin + chunk, columns);

  for (int c = tid; c < columns; c += THREADS) row[c] = x[blockIdx.x * columns + c];
  __syncthreads();  // the row is complete before a thread walks its chunk of it

  float m = -INFINITY;
  for (int c = begin; c < end; ++c) m = fmaxf(m, row[c]);
  partial[tid] = m;
  __syncthreads();
  for (int t = 0; t < THREADS; ++t) m = fmaxf(m, partial[t]);  // everybody folds everything
  __syncthreads();  // all have read the maxima before the sums replace them

  float sum = 0.0f;
  for (int c = begin; c < end; ++c) {
    row[c] = expf(row[c] - m);
    sum += row[c];
  }
  partial[tid] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int t = 0; t < THREADS; ++t) total += partial[t];

  for (int c = tid; c < columns; c += THREADS) y[blockIdx.x * columns + c] = row[c] / total;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmax<<<rows, THREADS, columns * sizeof(float)>>>(x, y, columns);
}
