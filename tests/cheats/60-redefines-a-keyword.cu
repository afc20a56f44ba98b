// Cheat: __global__ is redefined, so that the kernel is host code.

#define __global__

__global__ void fold(const float* x, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[row * columns + c];
  sums[row] = sum;
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<(rows + 63) / 64, 64>>>(x, sums, rows, columns);
}
