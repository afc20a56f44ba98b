// Right: only lanes with a column take part, and the mask names just those.

__global__ void fold(const float* x, float* sums, float* maxima, int columns) {
  const int lane = threadIdx.x;
  const float* values = x + blockIdx.x * columns;
  const unsigned mask = __ballot_sync(0xffffffff, lane < columns);
  if (lane >= columns) return;
  const int lanes = __popc(mask);
  float sum = 0.0f;
  float largest = values[0];
  for (int c = lane; c < columns; c += 32) {
    sum += values[c];
    largest = fmaxf(largest, values[c]);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float otherSum = __shfl_down_sync(mask, sum, d);
    const float otherLargest = __shfl_down_sync(mask, largest, d);
    if (lane + d < lanes) {
      sum += otherSum;
      largest = fmaxf(largest, otherLargest);
    }
  }
  if (lane == 0) {
    sums[blockIdx.x] = sum;
    maxima[blockIdx.x] = largest;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<rows, 32>>>(x, sums, maxima, columns);
}
