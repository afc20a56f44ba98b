// CUDA C++ as people write it at its most varied. Slot i of the output holds want[i] of the test beside this file.
#include <cstdio>
#include <type_traits>

#define SMEM __shared__
#define BLOCKS_THREADS 1, 32
#define CHECK(call) do { if ((call) != cudaSuccess) printf("bad\n"); } while (0)
#define LAUNCH(kernel, blocks, ...)         \
  do {                                      \
    kernel<<<blocks, 32>>>(__VA_ARGS__);    \
    CHECK(cudaGetLastError());              \
  } while (0)
#define CONFIGURED(kernel, T, N) kernel<T, N><<<1, 32, 64>>>
#define TILE(T, name, n) __shared__ T name[n]

extern __shared__ float pool[];
__shared__ float scratch[16];
__device__ int counter;
static __device__ float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ float scale = 2, limits[2] = {7, 8};
namespace { __device__ volatile int seen; }
extern "C" { __device__ float linked = 9; }

namespace detail {
namespace inner {
template <int N>
struct Tile {
  float v[N];
};

// 0: members of every kind of shared declaration
template <typename T, int N = (3 > 2 ? 4 : 8)>
__global__ void __launch_bounds__(128, 2) fill(T* __restrict__ out, int slot, const Tile<N> tile) {
  SMEM T a[N][N + 1], b, *c;
  __shared__ Tile<N> st;
  volatile __shared__ int flag;
  static __shared__ alignas(16) unsigned char raw[64];
  __shared__ float __align__(16) q4[4];
  __shared__ union { float f; int i; } bits;
  __shared__ struct Named { int x, y; } named;
  extern __shared__ __align__(16) unsigned char bytes[];
  float* floats = reinterpret_cast<float*>(bytes);
  if (threadIdx.x == 0) {
    a[1][N] = 1, b = 2, c = &b, st.v[0] = tile.v[0], flag = 4, raw[63] = 5, q4[3] = 6, bits.f = 7, floats[0] = 8;
    named = Named{9, 10};
    auto one = [&](int i) { return a[i][N] + st.v[0]; };
    auto two = [=](int i) mutable -> float { auto deep = [=] { return a[i][N] + *c; }; return deep(); };
    a[1][N] = 100;  // a lambda sees the array, not a copy of it
    out[slot] = one(1) + two(1) + flag + raw[63] + q4[3] + bits.f + floats[0] + named.x + named.y;
  }
}
}  // namespace inner
__global__ void overloaded(float* out, int slot) { if (threadIdx.x == 0) out[slot] = 1; }
__global__ void overloaded(float* out, int slot, int value) { if (threadIdx.x == 0) out[slot] = value; }
}  // namespace detail

__device__ float fromPool(int i) { return pool[i] + scratch[i]; }
__device__ float hidden(float pool) { return pool; }

extern "C" __global__ void plain(float* out, int slot) {
  TILE(float, twice, 4);
  if (threadIdx.x == 0) {
    twice[1] = 3, scratch[2] = 4;
    out[slot] = twice[1] + scratch[2];
  }
}
__global__ void pooled(float* out, int slot) {
  pool[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) scratch[threadIdx.x] = 100;
  __syncthreads();
  if (threadIdx.x == 0) out[slot] = fromPool(5) + hidden(1000);
}
__global__ void rows(float* out, int slot) {
  extern __shared__ float row[][3];
  row[threadIdx.x][2] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[slot] = row[7][2];
}
__global__ void variables(float* out, int slot) {
  if (threadIdx.x == 0) {
    atomicAdd(&counter, 3);
    seen = 4;
    out[slot] = counter + table[1][2] + scale + limits[1] + seen + linked;
  }
}
template <int (*F)(int)>
__global__ void viaFunction(float* out, int slot) { if (threadIdx.x == 0) out[slot] = F(21); }
__device__ int twice(int x) { return x + x; }
__global__ void pointer(float* out, int slot, const float* none) { if (threadIdx.x == 0) out[slot] = none == nullptr; }

struct Runner {
  void (*kernel)(float*, int);
  template <class T>
  void go(T* out) { kernel<<<1, 32>>>(out, 8); this->kernel<<<dim3(1, 1), dim3(32)>>>(out, 9); }
};

template <class T>
void host(T* out, int n) {
  detail::inner::Tile<4> tile{{3}};
  if (n < 0) detail::inner::fill<T, 4><<<dim3((n + 31) / 32, 1, 1), 128, 1 << 8>>>(out, 0, tile);
  else if (n > 0) (detail::inner::fill<T>)<<<(n >> 0), std::integral_constant<int, (64 >> 1)>::value, 64>>>(out, 0, tile);
  else
    ::detail::overloaded<<<1, 32>>>(out, 0);
  for (int i = 1; i < 3; ++i) detail::overloaded
      <<<BLOCKS_THREADS,   // blocks, threads
         0, nullptr>>>(
          out, i, 10 * i);
}

void runCausalAttention(float const* __restrict__ q, float out[], const int n) {
  host(out, n);
  void (*kernels[2])(float*, int) = {plain, pooled};
  kernels[0]<<<1, 32>>>(out, 3);
  (*kernels)<<<1, 32>>>(out, 4);
  (n ? pooled : plain)<<<1, 32, sizeof(detail::inner::Tile<32>)>>>(out, 5);
  LAUNCH(plain, n, out, 6);
  LAUNCH((detail::overloaded), 1, out, 7);
  Runner runner{plain};
  runner.go(out);
  auto later = [&](float* p) { rows<<<1, 32, 32 * 3 * sizeof(float)>>>(p, 10); };
  later(out);
  variables<<<1, 32>>>(out, 11);
  viaFunction<twice><<<1, 1>>>(out, 12);
  pointer<<<1, 32>>>(out, 13, NULL);
  CONFIGURED(detail::inner::fill, float, 4)(out, 14, detail::inner::Tile<4>{});
  const char* text = R"x(k<<<1, 2>>>(y); __shared__ float z[4];)x";
  char quote = '"';
  int million = 1'000'000;
  // plain<<<1, 2>>>(out, 0);  /* __shared__ */
  (void)text, (void)quote, (void)million, (void)q;
}
