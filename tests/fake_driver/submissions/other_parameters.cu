// What the host binds its arguments to differs from what the GPU reads.
#ifdef __CUDA_ARCH_LIST__
using Wide = double;
#else
using Wide = float;
#endif
struct Pair {
  Wide a, b;
};

__global__ void fill(float* y, int n, Pair pair) {
  for (int i = 0; i < n; ++i) y[i] = pair.a;
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  fill<<<1, 1>>>(y, T * D, Pair{1, 2});
}
