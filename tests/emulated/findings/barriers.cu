// Barriers and races of a block: each case a small kernel, the finding expected at the line that says so.
// The seam's T chooses the case. "clean N" has no finding at all.

// A barrier that one warp of two takes.
__global__ void barrierInBranch(float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = 1.0f;
  if (threadIdx.x < 32) {
    __syncthreads();  // expect 1: divergent-barrier
    s[threadIdx.x] += 1.0f;
  } else {
    s[threadIdx.x] += 2.0f;
    __syncthreads();
  }
  out[threadIdx.x] = s[threadIdx.x];
}

// Threads past the end leave before the barrier.
__global__ void returnThenBarrier(float* out, int n) {
  __shared__ float s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = 1.0f;
  __syncthreads();  // expect 2: divergent-barrier
  out[threadIdx.x] = s[threadIdx.x];
}

// A tile is filled again while a slower warp still reads it: with one tile all is well.
template <bool kBarrierAfterUse>
__global__ void tiles(const float* in, float* out, int count) {
  __shared__ float tile[64];
  float sum = 0.0f;
  for (int t = 0; t < count; ++t) {
    tile[threadIdx.x] = in[t * 64 + threadIdx.x];  // expect 3: race-shared tile
    __syncthreads();
    for (int j = 0; j < 64; ++j) sum += tile[j];  // expect 3: race-shared tile, clean 4, clean 5
    if (kBarrierAfterUse) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Thread 0 sets up the counters, every warp adds to its own.
template <bool kBarrier>
__global__ void initialiser(float* out) {
  __shared__ float sums[2];
  if (threadIdx.x == 0) {
    sums[0] = 0.0f;
    sums[1] = 0.0f;
  }
  if (kBarrier) __syncthreads();
  atomicAdd(&sums[threadIdx.x / 32], 1.0f);  // expect 6: race-shared sums, clean 7
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sums[0] + sums[1];
}

// Lanes 16 to 31 write padding into words that the next row's lanes own; values stay right.
__global__ void paddingOverOthers(float* out) {
  __shared__ float rows[2 * 48 + 48];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0 && lane >= 16) rows[32 + lane] = 0.0f;
  if (warp == 1 && lane < 16) rows[48 + lane] = 0.0f;  // expect 8: race-shared rows
  __syncthreads();
  out[threadIdx.x] = rows[48 + lane % 16];
}

// The maximum is in thread 0's hands and nobody waits for it.
template <bool kBarrier>
__global__ void notBroadcast(const float* in, float* out) {
  __shared__ float best;
  float m = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
  if (threadIdx.x == 0) best = m;
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] - best;  // expect 9: race-shared best, clean 10
}

// Warp-synchronous code of the days before Volta.
template <bool kSync>
__global__ void warpSynchronous(const float* in, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];  // expect 11: race-shared s
  if (kSync) __syncwarp();
  const float other = s[threadIdx.x ^ 1];  // expect 11: race-shared s, expect 11: uninitialised-shared s, clean 12
  out[threadIdx.x] = other;
}

// Half of a warp meets; the other half was promised to.
__global__ void halfMeets(const float* in, float* out) {
  __shared__ float s[32];
  const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  s[threadIdx.x] = in[threadIdx.x];  // expect 14: race-shared s
  __syncwarp(half);
  out[threadIdx.x] = s[threadIdx.x ^ 1];
  out[threadIdx.x + 32] = s[threadIdx.x ^ 16];  // expect 14: race-shared s, expect 14: uninitialised-shared s
}
__global__ void halfKeeps(const float* in, float* out) {
  __shared__ float s[32];
  const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp(half);
  out[threadIdx.x] = s[threadIdx.x ^ 1];  // clean 13: nothing leaves the half
}

// Sums of several blocks in one word: with atomics, without, and read in the same launch.
__global__ void addTogether(float* out) {
  if (threadIdx.x == 0) out[0] = 0.0f;
}
template <bool kAtomic>
__global__ void accumulate(float* out) {
  if (kAtomic) {
    atomicAdd(&out[0], 1.0f);
  } else {
    out[0] += 1.0f;  // expect 15: race-global attnOut, clean 16
  }
}
__global__ void readInSameLaunch(float* out) {
  out[blockIdx.x] = 1.0f;  // expect 17: race-global attnOut
  out[32 + blockIdx.x] = out[blockIdx.x ^ 1];  // expect 17: race-global attnOut, expect 17: uninitialised-global attnOut
}

__device__ int tickets[4];
__global__ void ticket(float* out) {
  const int mine = tickets[0];  // expect 18: race-global tickets
  tickets[0] = mine + 1;        // expect 18: race-global tickets
  out[blockIdx.x] = static_cast<float>(mine);
}

// Neighbouring bytes and half words belong to different threads.
__global__ void bytesOfAWord(float* out) {
  __shared__ unsigned char flags[64];
  __shared__ unsigned short codes[64];
  flags[threadIdx.x] = threadIdx.x;  // clean 19
  codes[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = flags[63 - threadIdx.x] + codes[63 - threadIdx.x];
}

// The block that comes last adds up what all have left. Without the fence nobody promised it that they had.
__device__ unsigned arrivals;
template <bool kFence>
__global__ void lastBlockAdds(float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = 1.0f;
    if (kFence) __threadfence();
    last = atomicAdd(&arrivals, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float sum = 0.0f;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += out[b];  // clean 20, expect 21: race-global attnOut
  out[64 + threadIdx.x] = sum;
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) {
    case 1: barrierInBranch<<<1, 64>>>(attnOut); break;
    case 2: returnThenBarrier<<<1, 64>>>(attnOut, 33); break;
    case 3: tiles<false><<<1, 64>>>(qkv, attnOut, 2); break;
    case 4: tiles<false><<<1, 64>>>(qkv, attnOut, 1); break;
    case 5: tiles<true><<<1, 64>>>(qkv, attnOut, 3); break;
    case 6: initialiser<false><<<1, 64>>>(attnOut); break;
    case 7: initialiser<true><<<1, 64>>>(attnOut); break;
    case 8: paddingOverOthers<<<1, 64>>>(attnOut); break;
    case 9: notBroadcast<false><<<1, 64>>>(qkv, attnOut); break;
    case 10: notBroadcast<true><<<1, 64>>>(qkv, attnOut); break;
    case 11: warpSynchronous<false><<<1, 64>>>(qkv, attnOut); break;
    case 12: warpSynchronous<true><<<1, 64>>>(qkv, attnOut); break;
    case 13: halfKeeps<<<1, 32>>>(qkv, attnOut); break;
    case 14: halfMeets<<<1, 32>>>(qkv, attnOut); break;
    case 15:
      addTogether<<<1, 1>>>(attnOut);
      accumulate<false><<<4, 1>>>(attnOut);
      break;
    case 16:
      addTogether<<<1, 1>>>(attnOut);
      accumulate<true><<<4, 32>>>(attnOut);
      break;
    case 17: readInSameLaunch<<<4, 1>>>(attnOut); break;
    case 18: ticket<<<4, 1>>>(attnOut); break;
    case 19: bytesOfAWord<<<1, 64>>>(attnOut); break;
    case 20: lastBlockAdds<true><<<4, 64>>>(attnOut); break;
    case 21: lastBlockAdds<false><<<4, 64>>>(attnOut); break;
  }
}
