// Kernels whose barriers can be left out one by one. `kFault` is 0 in the right kernel; every other value leaves out one
// thing that orders its threads. VARIANTS below lists all of them, each for three block sizes.

__device__ float sumOfWarp(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

// Sum of a block as a tree, halves added up.
template <int kFault, int kThreads>
__global__ void treeSum(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  if (kFault != 1) __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    if (kFault != 2) __syncthreads();
  }
  out[threadIdx.x] = s[0];
}

// The same, neighbours first.
template <int kFault, int kThreads>
__global__ void interleavedSum(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  if (kFault != 1) __syncthreads();
  for (int stride = 1; stride < kThreads; stride *= 2) {
    if (threadIdx.x % (2 * stride) == 0) s[threadIdx.x] += s[threadIdx.x + stride];
    if (kFault != 2) __syncthreads();
  }
  out[threadIdx.x] = s[0];
}

// A tree whose last warp goes on without barriers of the block.
template <int kFault, int kThreads>
__global__ void lastWarpSum(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int stride = kThreads / 2; stride >= 32; stride /= 2) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    if (kFault != 1) __syncthreads();
  }
  if (threadIdx.x < 32) {
    for (int stride = 16; stride > 0; stride /= 2) {
      const float other = s[threadIdx.x + stride];
      if (kFault != 2) __syncwarp();
      s[threadIdx.x] += other;
      if (kFault != 3) __syncwarp();
    }
  }
  if (threadIdx.x == 0) out[0] = s[0];
}

// Shuffles within the warps, shared memory between them; used twice with the same array.
template <int kFault, int kThreads>
__global__ void warpSums(const float* in, float* out) {
  __shared__ float s[kThreads / 32];
  for (int turn = 0; turn < 2; ++turn) {
    const float sum = sumOfWarp(in[turn * kThreads + threadIdx.x]);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    if (kFault != 1) __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < kThreads / 32; ++w) total += s[w];
    out[turn * kThreads + threadIdx.x] = total;
    if (kFault != 2) __syncthreads();
  }
}

// Inclusive scan; every step reads what the step before wrote.
template <int kFault, int kThreads>
__global__ void scan(const float* in, float* out) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    const float left = threadIdx.x >= d ? s[threadIdx.x - d] : 0.0f;
    if (kFault != 1) __syncthreads();
    s[threadIdx.x] += left;
    if (kFault != 2) __syncthreads();
  }
  out[threadIdx.x] = s[threadIdx.x];
}

// Counts in shared memory.
template <int kFault, int kThreads>
__global__ void histogram(const float* in, float* out) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  if (kFault != 1) __syncthreads();
  const int bin = static_cast<int>(in[threadIdx.x] * 8.0f) & 7;
  if (kFault == 2) {
    bins[bin] += 1;
  } else {
    atomicAdd(&bins[bin], 1);
  }
  if (kFault != 3) __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = static_cast<float>(bins[threadIdx.x]);
}

// A three-point stencil in place.
template <int kFault, int kThreads>
__global__ void stencil(const float* in, float* out) {
  __shared__ float s[kThreads + 2];
  s[threadIdx.x + 1] = in[threadIdx.x];
  if (threadIdx.x < 2) s[threadIdx.x * (kThreads + 1)] = 0.0f;
  if (kFault != 1) __syncthreads();
  const float value = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
  if (kFault != 2) __syncthreads();
  s[threadIdx.x + 1] = value;
  if (kFault != 3) __syncthreads();
  out[threadIdx.x] = s[kThreads - threadIdx.x];
}

// Tiles staged in shared memory, three of them.
template <int kFault, int kThreads>
__global__ void tileLoop(const float* in, float* out) {
  __shared__ float tile[kThreads];
  float sum = 0.0f;
  for (int t = 0; t < 3; ++t) {
    tile[threadIdx.x] = in[t * 64 + threadIdx.x];
    if (kFault != 1) __syncthreads();
    for (int j = 0; j < 16; ++j) sum += tile[(threadIdx.x + j * 7) % kThreads];
    if (kFault != 2) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Two tiles in turn: one barrier a tile is enough, and none is not.
template <int kFault, int kThreads>
__global__ void doubleBuffer(const float* in, float* out) {
  __shared__ float tile[2][kThreads];
  float sum = 0.0f;
  for (int t = 0; t < 5; ++t) {
    tile[kFault == 2 ? 0 : t % 2][threadIdx.x] = in[t * 32 + threadIdx.x];
    if (kFault != 1) __syncthreads();
    sum += tile[kFault == 2 ? 0 : t % 2][kThreads - 1 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

// One thread decides for all, again and again.
template <int kFault, int kThreads>
__global__ void leader(const float* in, float* out) {
  __shared__ float choice;
  float sum = 0.0f;
  for (int t = 0; t < 3; ++t) {
    if (threadIdx.x == t) choice = in[t];
    if (kFault != 1) __syncthreads();
    sum += choice;
    if (kFault != 2) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// A transposed tile, written by rows and read by columns as float4.
template <int kFault, int kThreads>
__global__ void vectors(const float* in, float* out) {
  __shared__ float4 s[kThreads];
  s[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];
  if (kFault != 1) __syncthreads();
  const float* flat = reinterpret_cast<const float*>(s);
  float sum = 0.0f;
  for (int j = 0; j < 4; ++j) sum += flat[j * kThreads + threadIdx.x];
  if (kFault != 2) __syncthreads();
  s[kThreads - 1 - threadIdx.x].x = sum;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x].x;
}

// Bytes and half words, each with an owner of its own.
template <int kFault, int kThreads>
__global__ void smallTypes(const float* in, float* out) {
  __shared__ unsigned char flags[kThreads];
  __shared__ unsigned short codes[kThreads];
  flags[threadIdx.x] = in[threadIdx.x] > 0.0f;
  codes[kFault == 2 ? threadIdx.x / 2 : threadIdx.x] = threadIdx.x;
  if (kFault != 1) __syncthreads();
  out[threadIdx.x] = flags[kThreads - 1 - threadIdx.x] + codes[threadIdx.x / 2];
}

// Groups of eight lanes with masks of their own.
template <int kFault, int kThreads>
__global__ void groups(const float* in, float* out) {
  __shared__ float s[kThreads];
  const unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
  s[threadIdx.x] = in[threadIdx.x];
  if (kFault != 1) __syncwarp(mask);
  const float other = s[threadIdx.x ^ (kFault == 2 ? 8 : 4)];
  if (kFault != 3) __syncwarp(mask);
  s[threadIdx.x] = other * 2.0f;
  __syncwarp(mask);
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// Between blocks: each writes its own part; a second launch reads all.
template <int kFault, int kThreads>
__global__ void parts(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i % 512] = in[i % 512];
  if (kFault == 1) out[0] = in[i % 512];
  if (kFault == 2 && threadIdx.x == 0) out[(i + kThreads) % 512] += 1.0f;
}
template <int kThreads>
__global__ void readsAll(float* out) {
  const float sum = out[threadIdx.x] + out[511 - threadIdx.x % 32];
  __syncthreads();
  out[threadIdx.x] = sum;
}

// X(number, kernel, fault, threads)
#define VARIANTS(X) \
  FAULTS3(X, 0, treeSum) FAULTS3(X, 100, interleavedSum) FAULTS4(X, 200, lastWarpSum) FAULTS3(X, 300, warpSums) \
  FAULTS3(X, 400, scan) FAULTS4(X, 500, histogram) FAULTS4(X, 600, stencil) FAULTS3(X, 700, tileLoop) \
  FAULTS3(X, 800, doubleBuffer) FAULTS3(X, 900, leader) FAULTS3(X, 1000, vectors) FAULTS3(X, 1100, smallTypes) \
  FAULTS4(X, 1200, groups) FAULTS3(X, 1300, parts)
#define FAULTS3(X, n, k) SIZES(X, n, k, 0) SIZES(X, n + 10, k, 1) SIZES(X, n + 20, k, 2)
#define FAULTS4(X, n, k) FAULTS3(X, n, k) SIZES(X, n + 30, k, 3)
#define SIZES(X, n, k, f) X(n + 1, k, f, 64) X(n + 2, k, f, 128) X(n + 3, k, f, 256)

#define RUN(n, k, f, t) \
  case n: \
    k<f, t><<<n > 1300 ? 512 / t : 1, t>>>(qkv, attnOut); \
    if (n > 1300) readsAll<t><<<1, t>>>(attnOut); \
    break;

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) { VARIANTS(RUN) }
}
