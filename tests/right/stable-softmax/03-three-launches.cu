// Right: a launch for each pass, with the maxima and the sums in scratch memory.

__global__ void rowMax(const float* x, float* maxima, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < columns; ++c) m = fmaxf(m, x[row * columns + c]);
  maxima[row] = m;
}

__global__ void rowSum(const float* x, const float* maxima, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = columns - 1; c >= 0; --c) sum += expf(x[row * columns + c] - maxima[row]);
  sums[row] = sum;
}

// one thread a value
__global__ void divide(const float* x, const float* maxima, const float* sums, float* y, int count, int columns) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int row = index / columns;
  y[index] = expf(x[index] - maxima[row]) / sums[row];
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  float* maxima = nullptr;
  float* sums = nullptr;
  cudaMalloc(&maxima, rows * sizeof(float));
  cudaMalloc(&sums, rows * sizeof(float));
  const int count = rows * columns;
  rowMax<<<(rows + 63) / 64, 64>>>(x, maxima, rows, columns);
  rowSum<<<(rows + 63) / 64, 64>>>(x, maxima, sums, rows, columns);
  divide<<<(count + 127) / 128, 128>>>(x, maxima, sums, y, count, columns);
  cudaFree(maxima);
  cudaFree(sums);
}
