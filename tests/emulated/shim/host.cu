// The host API. T picks the case. Cases 20 and above must be refused, at the line that says so.
#include <cstdio>

constexpr int N = 64;

__constant__ float scale;
__constant__ float table[4];
__device__ float offset[N];

__global__ void apply(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * scale + offset[threadIdx.x] + table[3]; }
__global__ void copyOf(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
template <typename T, int COUNT>
__global__ void dynamicSum(const T* in, T* out) {
  extern __shared__ T wide[];
  wide[COUNT - N + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = wide[COUNT - 1 - threadIdx.x];
}
__global__ void fill(float* out, float value, int4 more, const float* nothing) {
  out[threadIdx.x] = value + more.w + (nothing == nullptr);
}
__global__ void talk() {
  if (threadIdx.x == 0) printf("%d of %s\n", 7, "nine");
}

struct Scaler {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};
template <typename Function>
__global__ void map(const float* in, float* out, Function function) { out[threadIdx.x] = function(in[threadIdx.x]); }

#define CHECK(call) if ((call) != cudaSuccess) return

static void good(const float* in, float* out, int T) {
  if (T == 0) {  // symbols: what the host changes afterwards does not arrive
    float host[N], two = 2;
    for (int i = 0; i < N; ++i) host[i] = (float)i;
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two));
    CHECK(cudaMemcpyToSymbol(offset, host, sizeof host));
    const float last = 100;
    CHECK(cudaMemcpyToSymbol(table, &last, sizeof last, 3 * sizeof(float)));
    two = 3;
    apply<<<1, N>>>(in, out);
  }
  if (T == 1) {  // scratch, memset, copies, in order
    float *a, *b;
    CHECK(cudaMalloc(&a, N * sizeof(float)));
    CHECK(cudaMallocAsync(&b, N * sizeof(float), 0));
    CHECK(cudaMemset(a, 0, N * sizeof(float)));
    copyOf<<<1, N / 2>>>(in, a);
    CHECK(cudaMemcpyAsync(b, a, N * sizeof(float), cudaMemcpyDeviceToDevice));
    const float one[2] = {1, 2};
    CHECK(cudaMemcpy(b + 60, one, sizeof one, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b + 62, one, sizeof one, cudaMemcpyDefault));
    copyOf<<<dim3(1), dim3(N), 0, cudaStreamLegacy>>>(b, out);
    CHECK(cudaFree(a));
    CHECK(cudaFreeAsync(b, 0));
  }
  if (T == 2) {  // more than 48 KB of dynamic shared memory, once allowed
    auto* kernel = &dynamicSum<float, 16384>;
    CHECK(cudaFuncSetAttribute(dynamicSum<float, 16384>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    dynamicSum<float, 16384><<<1, N, 65536>>>(in, out);
    (void)kernel;
  }
  if (T == 3) {  // the arguments are copied, whatever their type
    float value = 5;
    int4 more = make_int4(1, 2, 3, 4);
    fill<<<1, N>>>(out, value, more, nullptr);
    value = more.w = 0;
  }
  if (T == 4) {
    map<<<1, N>>>(in, out, Scaler{3});
    const float shift = 0.5f;
    map<<<1, N / 2>>>(in, out, [=] __device__(float x) { return x + shift; });
  }
  if (T == 5) {  // what the device says of itself
    int sms, optin, warp, device, blocks;
    cudaDeviceProp prop;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device));
    CHECK(cudaGetDeviceProperties(&prop, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copyOf, 256, 64 * 1024));
    fill<<<1, N>>>(out, (float)(sms * 1000000.0 + optin), make_int4(0, 0, 0, warp + prop.major + blocks), in);
  }
  if (T == 6) {  // errors are told, and the launches after them go on
    copyOf<<<1, 2000>>>(in, out);
    const cudaError_t launch = cudaGetLastError(), none = cudaGetLastError();
    const cudaError_t big = cudaFuncSetAttribute(copyOf, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
    const cudaError_t device = cudaSetDevice(3);
    fill<<<1, N>>>(out, (float)(launch + 100 * none + 1000 * big + 10000 * device), int4{}, in);
    (void)cudaGetErrorString(cudaPeekAtLastError());
  }
  if (T == 7) talk<<<2, N>>>();
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  good(qkv, attnOut, T);
  float host[4];
  float* pointer;
  if (T == 20) cudaMemcpy(host, attnOut, 16, cudaMemcpyDefault);  // refused 20: cudaMemcpy
  auto kind = static_cast<cudaMemcpyKind>(T == 21 ? 2 : 0);
  if (T == 21) cudaMemcpyAsync(host, attnOut, 16, kind);  // refused 21: cudaMemcpyAsync
  if (T == 22) cudaMemcpyToSymbol(scale, host, 4, 0, static_cast<cudaMemcpyKind>(2));  // refused 22: cudaMemcpyToSymbol
  if (T == 23) copyOf<<<1, N, 0, reinterpret_cast<cudaStream_t>(77)>>>(qkv, attnOut);  // refused 23: copyOf
  if (T == 24) CHECK(cudaMalloc(&pointer, size_t(1) << 30));  // refused 24: the seam asks
  if (T == 25) attnOut[0] = 1;  // refused 25: host code
  if (T == 26) cudaMemsetAsync(attnOut, 0, 4, reinterpret_cast<cudaStream_t>(77));  // refused 26: cudaMemsetAsync
}
