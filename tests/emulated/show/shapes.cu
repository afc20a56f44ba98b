// Two launches with a memset between them, static and dynamic shared memory, and scratch. The output is right nowhere.

__global__ void first(const float* qkv, float* partial, int T) {
  __shared__ float row_smem[4][33];
  row_smem[threadIdx.x % 4][threadIdx.x % 33] = qkv[threadIdx.x];
  __syncthreads();
  partial[blockIdx.x] = row_smem[0][0];
}

__global__ void second(const float* partial, float* attnOut, int T) {
  extern __shared__ float copy_smem[];
  copy_smem[threadIdx.x] = partial[0];
  __syncthreads();
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < T * D) attnOut[at] = copy_smem[threadIdx.x];
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  float* partial;
  cudaMalloc(&partial, T * sizeof(float));
  cudaMemset(attnOut, 0, T * D * sizeof(float));
  first<<<T, dim3(16, 2)>>>(qkv, partial, T);
  second<<<(T * D + 127) / 128, 128, 128 * sizeof(float)>>>(partial, attnOut, T);
  cudaFree(partial);
}
