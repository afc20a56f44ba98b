// Right: an atomic maximum of bits that are made to be ordered as the floats are.

__device__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float restored(unsigned bits) {
  return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

__global__ void fold(const float* x, float* maxima, int columns) {
  __shared__ unsigned largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    atomicMax(&largest, ordered(x[blockIdx.x * columns + c]));
  }
  __syncthreads();
  if (threadIdx.x == 0) maxima[blockIdx.x] = restored(largest);
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  fold<<<rows, 96>>>(x, maxima, columns);
}
