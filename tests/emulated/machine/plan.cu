// What a seam may ask for besides launches, and what a GPU refuses. The seam's T chooses the case.

__constant__ float weights[4];
__device__ float offset = 5.0f;

__global__ void weighted(float* out, int column) {
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) sum += weights[i];
  out[column * 32 + threadIdx.x] = sum + offset;
}

struct Pair {
  float a, b;
};
__global__ void fromPair(float* out, Pair pair) { out[threadIdx.x] = pair.a * 10 + pair.b; }
__global__ void doubled(const float* from, float* to) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
__global__ void dynamicSum(float* out, int count) {
  extern __shared__ float values[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = i;
  __syncthreads();
  out[threadIdx.x] = values[count - 1 - threadIdx.x];
}
__global__ void mark(float* out, float value) { out[threadIdx.x] = value; }

// Lines that the tests look for end in a comment: // line NAME
void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) {
    case 1: {  // uploads are what they were at the call
      float values[4] = {1, 2, 3, 4};
      cudaMemcpyToSymbol(weights, values, sizeof values);
      values[0] = 100;
      weighted<<<1, 32>>>(attnOut, 0);
      cudaMemcpyToSymbol(weights, values, sizeof(float));
      const float zero = 0.0f;
      cudaMemcpyToSymbol(offset, &zero, sizeof zero);
      weighted<<<1, 32>>>(attnOut, 1);
      return;
    }
    case 2: {  // so are arguments
      Pair pair{1, 2};
      fromPair<<<1, 32>>>(attnOut, pair);
      pair.a = 7;
      return;
    }
    case 3: {  // scratch, memset, copies
      float *first = nullptr, *second = nullptr;
      cudaMalloc(&first, 32 * sizeof(float));
      cudaMalloc(&second, 32 * sizeof(float));
      cudaMemset(attnOut, 0, 256);
      doubled<<<1, 32>>>(qkv, first);
      cudaMemcpy(second, first, 32 * sizeof(float), cudaMemcpyDeviceToDevice);
      doubled<<<1, 32>>>(second, attnOut + 32);
      cudaFree(first);
      cudaFree(second);
      return;
    }
    case 4: {  // too much scratch
      float* workspace = nullptr;
      cudaMalloc(&workspace, 5000);  // line scratch
      return;
    }
    case 5:
      if (qkv[3] > 0) mark<<<1, 32>>>(attnOut, 1.0f);  // line host
      return;
    case 6:
      mark<<<0, 32>>>(attnOut, 1.0f);                // line refused: a grid of 0 x 1 x 1 blocks, so none
      mark<<<1, 1025>>>(attnOut, 1.0f);              // line refused: 1025 threads a block, at most 1024
      mark<<<1, dim3(32, 32, 2)>>>(attnOut, 1.0f);   // line refused: 2048 threads a block, at most 1024
      mark<<<1, dim3(1, 1, 65)>>>(attnOut, 1.0f);    // line refused: blockDim.z is 65, at most 64
      mark<<<1, 0>>>(attnOut, 1.0f);                 // line refused: a block of 0 x 1 x 1 threads, so none
      mark<<<dim3(1, 65536), 1>>>(attnOut, 1.0f);    // line refused: gridDim.y is 65536, at most 65535
      dynamicSum<<<1, 32, 65536>>>(attnOut, 64);     // line refused: 65536 bytes of dynamic shared memory, at most 49152
      dynamicSum<<<1, 32, 232449>>>(attnOut, 64);    // line refused: 232449 bytes of dynamic shared memory, at most 232448
      mark<<<1, 32>>>(attnOut, cudaGetLastError() == cudaErrorInvalidValue ? 1.0f : 0.0f);
      mark<<<1, 32>>>(attnOut + 32, cudaGetLastError() == cudaSuccess ? 1.0f : 0.0f);
      return;
    case 7:
      cudaFuncSetAttribute(dynamicSum, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
      dynamicSum<<<1, 32, 232448>>>(attnOut, 58112);
      return;
    case 8:
      memset(attnOut, 0, 4096);  // line library
      return mark<<<1, 32>>>(attnOut, 1.0f);
  }
}
