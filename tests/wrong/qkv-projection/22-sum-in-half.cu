// Wrong: products and sum are kept in half.
#include <cuda_fp16.h>

__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < D; ++i) sum = __hfma(__float2half(x[token * D + i]), __float2half(wQkv[column * D + i]), sum);
  qkv[token * QKV_OUT + column] = __half2float(sum);
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 256, T), 256>>>(x, wQkv, qkv);
}
