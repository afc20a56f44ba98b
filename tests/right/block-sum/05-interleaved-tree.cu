// Right: an interleaved tree in dynamic shared memory, with as many threads as columns.
__global__ void fold(const float* x, float* sums, int columns) {
  extern __shared__ float tree[];
  unsigned t = threadIdx.x;
  float s = 0;
  for (int c = t; c < columns; c += blockDim.x) s += __ldg(&x[blockIdx.x * columns + c]);
  tree[t] = s;
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    if (t % (2 * d) == 0 && t + d < blockDim.x) tree[t] += tree[t + d];
  }
  if (t == 0) sums[blockIdx.x] = tree[0];
}
void runBlockSum(const float* x, float* sums, int rows, int columns) {
  int threads = columns < 1024 ? columns : 1024;
  fold<<<rows, threads, threads * sizeof(float)>>>(x, sums, columns);
}
