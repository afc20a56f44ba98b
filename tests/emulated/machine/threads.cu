// What the machine must do for threads, blocks and warps. The seam's T chooses the case; every case fills attnOut.

__global__ void indices(float* out) {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
                                  10000 * blockIdx.y + 100000 * blockIdx.z;
}

// The sum over the block, by halving; the second half of the threads leaves at once when asked to.
__global__ void blockSum(const float* in, float* out, bool halfLeaves) {
  __shared__ float part[1024];
  int live = blockDim.x;
  part[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (halfLeaves) {
    live /= 2;
    if (threadIdx.x >= live) return;
    part[threadIdx.x] += part[threadIdx.x + live];
    __syncthreads();
  }
  for (int half = live / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  out[threadIdx.x] = part[0];
}

__global__ void votes(float* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t % 3 == 0);
  const int all = __syncthreads_and(t < 96), notAll = __syncthreads_and(t < 95);
  const int any = __syncthreads_or(t == 95), none = __syncthreads_or(t == 96);
  out[t] = count + 1000 * (all != 0) + 2000 * (notAll != 0) + 4000 * (any != 0) + 8000 * (none != 0);
}

// Even and odd lanes exchange under masks of their own, in different numbers, while the other meeting is open.
__global__ void twoMasks(const float* in, float* out) {
  const unsigned mask = threadIdx.x % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
  const int rounds = threadIdx.x % 2 == 0 ? 3 : 5;
  float value = in[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value += __shfl_xor_sync(mask, value, 2 << i % 4);
  __syncwarp();
  out[threadIdx.x] = value + __shfl_sync(0xffffffffu, value, 0);
}

// The second warp has 8 lanes.
__global__ void partialWarp(const float* in, float* out) {
  float value = in[threadIdx.x];
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  const unsigned present = __ballot_sync(0xffffffffu, 1);
  out[threadIdx.x] = value + 100 * __popc(present);
}

// Thread 0 waits for what thread 63 does.
__global__ void spins(float* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
  }
  if (threadIdx.x == 63) atomicExch(&flag, 1);
  __syncthreads();
  out[threadIdx.x] = atomicAdd(&flag, 0);
}

__global__ void active(float* out) {
  unsigned mask = 0;
  if (threadIdx.x % 4 == 1) mask = __activemask();
  out[threadIdx.x] = __popc(mask);
}

__device__ int tickets;
__global__ void takeTickets(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(&tickets, 1); }

__device__ int sums[8];
__device__ unsigned turns[2];
__device__ unsigned long long wide;
__device__ double precise;
__device__ int lock;
__global__ void atomics() {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&sums[0], 1);
  atomicSub(&sums[1], 2);
  atomicMin(&sums[2], -i);
  atomicMax(&sums[3], i);
  atomicOr(&sums[4], 1 << i % 20);
  atomicXor(&sums[5], i);
  atomicInc(&turns[0], 6);
  atomicDec(&turns[1], 4);
  atomicAdd(&wide, 1ull << 33);
  atomicAdd(&precise, 0.5);
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  atomicExch(&sums[6], atomicAdd(&sums[6], 0) + 1);
  atomicExch(&lock, 0);
}
__global__ void readAtomics(float* out) {
  for (int i = 0; i < 7; ++i) out[i] = sums[i];
  out[7] = turns[0];
  out[8] = turns[1];
  out[9] = static_cast<float>(wide >> 33);
  out[10] = static_cast<float>(precise);
}

__global__ void step(float* out, float factor, float term) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = factor == 0.0f ? term : out[i] * factor + term;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) {
    case 1:
      return indices<<<dim3(2, 3, 2), dim3(3, 5, 7)>>>(attnOut);
    case 2:
      return blockSum<<<1, 1024>>>(qkv, attnOut, false);
    case 3:
      return blockSum<<<1, 1024>>>(qkv, attnOut, true);
    case 4:
      return votes<<<1, 96>>>(attnOut);
    case 5:
      return twoMasks<<<1, 32>>>(qkv, attnOut);
    case 6:
      return partialWarp<<<1, 40>>>(qkv, attnOut);
    case 7:
      return spins<<<1, 64>>>(attnOut);
    case 8:
      return active<<<1, 64>>>(attnOut);
    case 9:
      return takeTickets<<<4, 64>>>(attnOut);
    case 10:
      atomics<<<50, 40>>>();
      return readAtomics<<<1, 1>>>(attnOut);
    case 11:
      step<<<3, 33>>>(attnOut, 0.0f, 1.0f);
      for (int i = 1; i < 300; ++i) step<<<3, 33>>>(attnOut, 0.5f, static_cast<float>(i % 7));
  }
}
