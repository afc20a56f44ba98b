// Kernels that do not end well, without a checker to see it coming. The seam's T chooses the case.

__global__ void nullPointer(float* out) {
  if (threadIdx.x == 5 && blockIdx.x == 1) *static_cast<volatile float*>(nullptr) = 1.0f;  // line 1
  out[threadIdx.x] = 0.0f;
}
__global__ void division(float* out, int by) { out[threadIdx.x] = 7 / (by - int(threadIdx.x)); }  // line 2
__device__ float deep(float* out, int depth) {
  volatile float local[256];
  local[depth % 256] = out[0];
  return depth == 0 ? 0.0f : deep(out, depth - 1) + local[depth % 256];
}
__global__ void recursion(float* out) { out[threadIdx.x] = deep(out, 1000); }
__global__ void hugeFrame(float* out, int n) {  // line 4
  volatile float local[40000];
  local[n] = 1.0f;
  out[threadIdx.x] = local[n];
}
__global__ void farAway(float* out) { out[threadIdx.x + 5000000] = 1.0f; }  // line 5
__global__ void forever(float* out) {
  volatile int going = 1;  // of its own: no access that the step budget counts
  while (going) {  // line 6
  }
}
__global__ void stuck(float* out) {
  if (threadIdx.x < 8) __syncwarp();  // line 7
  __syncthreads();                    // line 7
  out[threadIdx.x] = 0.0f;
}
__global__ void asserts(float* out) {
  if (threadIdx.x == 3) __trap();  // line 8
  out[threadIdx.x] = 0.0f;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  if (T == 1) nullPointer<<<2, 32>>>(attnOut);
  if (T == 2) division<<<1, 32>>>(attnOut, 9);
  if (T == 3) recursion<<<1, 32>>>(attnOut);
  if (T == 4) hugeFrame<<<1, 32>>>(attnOut, 3);
  if (T == 5) farAway<<<1, 32>>>(attnOut);
  if (T == 6) forever<<<1, 32>>>(attnOut);
  if (T == 7) stuck<<<1, 32>>>(attnOut);
  if (T == 8) asserts<<<1, 32>>>(attnOut);
}
