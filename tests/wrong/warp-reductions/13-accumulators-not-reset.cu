// Wrong: one warp folds all rows, and its accumulators are set before the first only.

__global__ void fold(const float* x, float* sums, float* maxima, int rows, int columns) {
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int row = 0; row < rows; ++row) {
    float mine = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 32) {
      mine += x[row * columns + c];
      largest = fmaxf(largest, x[row * columns + c]);
    }
    for (int d = 16; d > 0; d /= 2) {
      mine += __shfl_xor_sync(0xffffffff, mine, d);
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
    }
    sum += mine;
    if (threadIdx.x == 0) {
      sums[row] = sum;
      maxima[row] = largest;
    }
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<1, 32>>>(x, sums, maxima, rows, columns);
}
