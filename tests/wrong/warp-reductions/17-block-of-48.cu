// Wrong: the block's second warp has 16 lanes, and the mask calls for 32.

__global__ void fold(const float* x, float* sums, float* maxima, int columns) {
  __shared__ float part[4];
  const int warp = threadIdx.x / 32;
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += x[blockIdx.x * columns + c];
    largest = fmaxf(largest, x[blockIdx.x * columns + c]);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, d);
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
  }
  if (threadIdx.x % 32 == 0) {
    part[warp] = sum;
    part[2 + warp] = largest;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0] + part[1];
    maxima[blockIdx.x] = fmaxf(part[2], part[3]);
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<rows, 48>>>(x, sums, maxima, columns);
}
