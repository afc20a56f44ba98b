// Right: an integer maximum over a warp of bits that are ordered as the floats are.
__global__ void fold(const float* x, float* maxima, int columns) {
  int best = 0x80000000;
  for (int c = threadIdx.x; c < columns; c += 32) {
    int b = __float_as_int(x[blockIdx.x * columns + c]);
    b = b >= 0 ? b : b ^ 0x7fffffff;
    best = max(best, b);
  }
  best = __reduce_max_sync(0xffffffffu, best);
  if (threadIdx.x == 0) maxima[blockIdx.x] = __int_as_float(best >= 0 ? best : best ^ 0x7fffffff);
}
void runBlockMax(const float* x, float* maxima, int rows, int columns) { fold<<<rows, 32>>>(x, maxima, columns); }
