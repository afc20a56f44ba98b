// Masks, launches that a GPU refuses, and kernels that do not end well. The seam's T chooses the case; the finding is
// expected at the line that says so.

__global__ void notInItsMask(const float* in, float* out) {
  float x = in[threadIdx.x];
  x += __shfl_xor_sync(0x0000ffffu, x, 1);  // expect 1: shuffle-mask
  out[threadIdx.x] = x;
}
__global__ void exitedLanes(const float* in, float* out, int n) {
  if (threadIdx.x >= n) return;
  float x = in[threadIdx.x];
  x += __shfl_down_sync(0xffffffffu, x, 16);  // expect 2: shuffle-mask
  out[threadIdx.x] = x;
}
__global__ void narrowBlock(const float* in, float* out) {
  float x = in[threadIdx.x];
  for (int d = 8; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);  // clean 3: 16 threads, all there
  out[threadIdx.x] = x;
}
__global__ void syncAfterExit(float* out, int n) {
  if (threadIdx.x >= n) return;
  __syncwarp();  // clean 4: exited lanes need not come
  out[threadIdx.x] = 1.0f;
}

// 3 lanes of the first warp shuffle with all 32, the others go on to a barrier.
__global__ void threeLanesShuffle(const float* in, float* out) {
  __shared__ float s[96];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 3) {
    float m = s[threadIdx.x * 32];
    m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, 1));  // expect 5: deadlock
    s[threadIdx.x] = m;
  }
  __syncthreads();  // expect 5: deadlock
  out[threadIdx.x] = s[0];
}

__global__ void fills(float* out) { out[threadIdx.x] = 1.0f; }
__global__ void tooMuchShared(float* out) {
  __shared__ unsigned char bytes[49153];  // expect 8: launch-refused bytes
  bytes[threadIdx.x] = 1;
  out[threadIdx.x] = bytes[threadIdx.x];
}
__global__ void justEnoughShared(float* out) {
  __shared__ unsigned char bytes[49152];  // clean 9
  bytes[threadIdx.x] = 1;
  out[threadIdx.x] = bytes[threadIdx.x];
}

__global__ void neverEnds(float* out) {
  for (int stride = 32; stride >= 0; stride /= 2) {
    out[stride] = out[stride / 2 + 100] + 1.0f;  // expect 14: endless-loop, expect 14: uninitialised-global attnOut
  }
}

__global__ void onlyWaits(float* out) {
  for (int half = 16; half >= 0; half /= 2) {
    __syncthreads();  // expect 17: endless-loop
  }
  out[threadIdx.x] = 1.0f;
}

__device__ float deep(const float* in, int depth) {  // expect 15: stack-overflow
  volatile float local[1024];  // 4 KB, a hundred times
  local[depth % 1024] = in[depth % 64];
  return depth == 0 ? local[0] : deep(in, depth - 1) + local[depth % 1024];
}
__global__ void recursesTooDeep(const float* in, float* out) { out[threadIdx.x] = deep(in, 100); }

__global__ void asserts(const float* in, float* out) {
  assert(in[0] > 1e30f);  // expect 16: assert-failed
  out[0] = 1.0f;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) {
    case 1: notInItsMask<<<1, 32>>>(qkv, attnOut); break;
    case 2: exitedLanes<<<1, 32>>>(qkv, attnOut, 20); break;
    case 3: narrowBlock<<<1, 16>>>(qkv, attnOut); break;
    case 4: syncAfterExit<<<1, 32>>>(attnOut, 20); break;
    case 5: threeLanesShuffle<<<1, 96>>>(qkv, attnOut); break;
    case 6: fills<<<1, dim3(33, 32)>>>(attnOut); break;  // expect 6: launch-refused
    case 7: fills<<<(T - 7) / 32, 32>>>(attnOut); break;  // expect 7: launch-refused
    case 8: tooMuchShared<<<1, 32>>>(attnOut); break;
    case 9: justEnoughShared<<<1, 32>>>(attnOut); break;
    case 10: fills<<<1, 32, 64 * 1024>>>(attnOut); break;  // expect 10: launch-refused
    case 11:
      cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
      fills<<<1, 32, 64 * 1024>>>(attnOut);  // clean 11
      break;
    case 12: fills<<<dim3(1, 65536), 1>>>(attnOut); break;  // expect 12: launch-refused
    case 13: fills<<<1, dim3(1, 1, 65)>>>(attnOut); break;  // expect 13: launch-refused
    case 14: neverEnds<<<1, 1>>>(attnOut); break;
    case 15: recursesTooDeep<<<1, 1>>>(qkv, attnOut); break;
    case 16: asserts<<<1, 1>>>(qkv, attnOut); break;
    case 17: onlyWaits<<<1, 32>>>(attnOut); break;
  }
}
