// Bounds, initialisation, alignment, inputs and pointers: each case a small kernel, the finding expected at the line that
// says so. The seam's T chooses the case. Buffers: qkv of 8 rows of 64 floats, attnOut the same.

__constant__ float scales[4];

__global__ void pastTheEnd(const float* in, float* out) {
  out[threadIdx.x] = in[8 * 64 - 16 + threadIdx.x];  // expect 1: out-of-bounds-global qkv
}
__global__ void beforeTheStart(float* out) {
  out[static_cast<int>(threadIdx.x) - 1] = 1.0f;  // expect 2: out-of-bounds-global attnOut
}
__global__ void farOutside(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x + (1 << 22)];  // expect 3: out-of-bounds-global attnOut
}
__global__ void sharedOverrun(float* out) {
  __shared__ float a[32];
  __shared__ float b[32];
  b[threadIdx.x] = 5.0f;
  a[threadIdx.x + 1] = 1.0f;  // expect 4: out-of-bounds-shared a
  __syncthreads();
  out[threadIdx.x] = b[threadIdx.x];
}
__global__ void dynamicOverrun(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1.0f;  // expect 5: out-of-bounds-shared dynamic shared memory
  out[threadIdx.x] = 1.0f;
}

// The last tile has one row; the loop reads all of it.
template <bool kFill>
__global__ void staleTail(const float* in, float* out, int rows) {
  __shared__ float tile[32];
  if (threadIdx.x < rows) {
    tile[threadIdx.x] = in[threadIdx.x];
  } else if (kFill) {
    tile[threadIdx.x] = 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < 32; ++j) sum += (j < rows ? 1.0f : 0.0f) * tile[j];  // expect 6: uninitialised-shared tile, clean 7
  out[threadIdx.x] = sum;
}

// 96 threads are 3 warps: a reduction over 4 slots reads one that nobody wrote.
__global__ void threeWarps(const float* in, float* out) {
  __shared__ float warpMax[32];
  float m = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
  if (threadIdx.x % 32 == 0) warpMax[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x < 32) {
    m = threadIdx.x < 4 ? warpMax[threadIdx.x] : -INFINITY;  // expect 8: uninitialised-shared warpMax
    for (int d = 2; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    if (threadIdx.x == 0) out[0] = m;
  }
}

// Adds into an output that nobody has set; after a memset it is fine.
__global__ void addsToOutput(float* out) {
  out[threadIdx.x] += 1.0f;  // expect 9: uninitialised-global attnOut, clean 10
}
__global__ void atomicToOutput(float* out) {
  atomicAdd(&out[threadIdx.x], 1.0f);  // expect 11: uninitialised-global attnOut
}

__global__ void misalignedVector(const float* in, float* out) {
  const float2* pairs = reinterpret_cast<const float2*>(in + 1);
  const float2 pair = pairs[threadIdx.x];  // expect 12: misaligned qkv
  out[threadIdx.x] = pair.x + pair.y;
}
__global__ void misalignedWide(const float* in, float* out) {
  const float4 v = *reinterpret_cast<const float4*>(in + 1);  // expect 13: misaligned qkv
  out[threadIdx.x] = v.x + v.w;
}
__global__ void alignedWide(const float* in, float* out) {
  const float4 v = reinterpret_cast<const float4*>(in)[threadIdx.x];  // clean 14
  reinterpret_cast<float4*>(out)[threadIdx.x] = v;
}

__global__ void writesInput(const float* in, float* out) {
  const_cast<float*>(in)[threadIdx.x] *= 0.5f;  // expect 15: input-written qkv
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void writesConstant(float* out) {
  float* scale = const_cast<float*>(&scales[1]);
  *scale = 0.125f;  // expect 16: constant-written scales
  out[threadIdx.x] = 1.0f;
}
__global__ void readsConstant(float* out) { out[threadIdx.x] = scales[threadIdx.x % 4]; }  // clean 17

__global__ void nullPointer(const float* nothing, float* out) {
  out[threadIdx.x] = nothing[threadIdx.x];  // expect 18: bad-pointer
}
__global__ void nullLiteral(float* out) {
  *static_cast<volatile float*>(nullptr) = out[0];  // expect 20: bad-pointer, expect 20: uninitialised-global attnOut
}
__global__ void hostPointer(const int* length, float* out) {
  out[threadIdx.x] = static_cast<float>(*length);  // expect 19: bad-pointer
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  switch (T) {
    case 1: pastTheEnd<<<1, 32>>>(qkv, attnOut); break;
    case 2: beforeTheStart<<<1, 32>>>(attnOut); break;
    case 3: farOutside<<<1, 32>>>(qkv, attnOut); break;
    case 4: sharedOverrun<<<1, 32>>>(attnOut); break;
    case 5: dynamicOverrun<<<1, 32, 31 * sizeof(float)>>>(attnOut); break;
    case 6: staleTail<false><<<1, 32>>>(qkv, attnOut, 1); break;
    case 7: staleTail<true><<<1, 32>>>(qkv, attnOut, 1); break;
    case 8: threeWarps<<<1, 96>>>(qkv, attnOut); break;
    case 9: addsToOutput<<<1, 32>>>(attnOut); break;
    case 10:
      cudaMemset(attnOut, 0, 8 * 64 * sizeof(float));
      addsToOutput<<<1, 32>>>(attnOut);
      break;
    case 11: atomicToOutput<<<1, 32>>>(attnOut); break;
    case 12: misalignedVector<<<1, 32>>>(qkv, attnOut); break;
    case 13: misalignedWide<<<1, 1>>>(qkv, attnOut); break;
    case 14: alignedWide<<<1, 32>>>(qkv, attnOut); break;
    case 15: writesInput<<<1, 32>>>(qkv, attnOut); break;
    case 16: writesConstant<<<1, 1>>>(attnOut); break;
    case 17: readsConstant<<<1, 32>>>(attnOut); break;
    case 18: nullPointer<<<1, 32>>>(nullptr, attnOut); break;
    case 19: hostPointer<<<1, 32>>>(&T, attnOut); break;
    case 20: nullLiteral<<<1, 1>>>(attnOut); break;
  }
}
