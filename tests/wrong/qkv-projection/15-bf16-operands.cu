// Wrong: both operands are rounded to bf16.
#include <cuda_bf16.h>

__global__ void project(const float* x, const float* wQkv, float* qkv) {
  const int token = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < D; ++i) {
    const float a = __bfloat162float(__float2bfloat16(x[token * D + i]));
    const float b = __bfloat162float(__float2bfloat16(wQkv[column * D + i]));
    sum += a * b;
  }
  qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<dim3(QKV_OUT / 256, T), 256>>>(x, wQkv, qkv);
}
