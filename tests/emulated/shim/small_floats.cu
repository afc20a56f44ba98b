// half and bfloat16, number by number. Rows of the input hold the bits of the operands a, b and c, as whole floats;
// row r of the output holds the bits of one operation's results. T = 0 is half, T = 1 is bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int COUNT = 65536;

__device__ half fromBits(half, float bits) { return __ushort_as_half((unsigned short)bits); }
__device__ __nv_bfloat16 fromBits(__nv_bfloat16, float bits) { return __ushort_as_bfloat16((unsigned short)bits); }
__device__ float toBits(half x) { return __half_as_ushort(x); }
__device__ float toBits(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

template <class Number>
__global__ void operate(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Number a = fromBits(Number(), in[i]), b = fromBits(Number(), in[COUNT + i]), c = fromBits(Number(), in[2 * COUNT + i]);
  out[0 * COUNT + i] = toBits(a + b);
  out[1 * COUNT + i] = toBits(a - b);
  out[2 * COUNT + i] = toBits(a * b);
  out[3 * COUNT + i] = toBits(a / b);
  out[4 * COUNT + i] = toBits(__hfma(a, b, c));
  out[5 * COUNT + i] = toBits(hsqrt(a));
  out[6 * COUNT + i] = toBits(-a);
  out[7 * COUNT + i] = toBits(__hmax(a, b));
  out[8 * COUNT + i] = toBits(__hmin(a, b));
  out[9 * COUNT + i] = (a < b) + 2 * (a == b) + 4 * (a != b) + 8 * (a >= b) + 16 * __hne(a, b) + 32 * __hltu(a, b);
  out[10 * COUNT + i] = a;                                    // as a float
  out[11 * COUNT + i] = toBits(Number(in[3 * COUNT + i]));    // from any float
  out[12 * COUNT + i] = toBits(Number(double(in[3 * COUNT + i]) * (1.0 + 0x1p-40)));
}

__global__ void roundHalf(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[3 * COUNT + i];
  out[13 * COUNT + i] = toBits(__float2half_rn(x));
  out[14 * COUNT + i] = toBits(__float2half_rz(x));
  out[15 * COUNT + i] = toBits(__float2half_ru(x));
  out[16 * COUNT + i] = toBits(__float2half_rd(x));
  out[17 * COUNT + i] = __half2int_rn(__float2half(in[i])) + __half2int_rz(__float2half(-0.75f));
}

__global__ void roundBfloat16(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[3 * COUNT + i];
  out[13 * COUNT + i] = toBits(__float2bfloat16_rn(x));
  out[14 * COUNT + i] = toBits(__float2bfloat16_rz(x));
  out[15 * COUNT + i] = toBits(__float2bfloat16_ru(x));
  out[16 * COUNT + i] = toBits(__float2bfloat16_rd(x));
  out[17 * COUNT + i] = __bfloat162int_rn(__float2bfloat16(in[i])) + __bfloat162int_rz(__float2bfloat16(-0.75f));
}

// Both at once must be what each is alone.
__global__ void pairs(const float* in, float* out) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const half2 a = __halves2half2(fromBits(half(), in[i]), fromBits(half(), in[i + 1]));
  const half2 b = __halves2half2(fromBits(half(), in[COUNT + i]), fromBits(half(), in[COUNT + i + 1]));
  const half2 c = __halves2half2(fromBits(half(), in[2 * COUNT + i]), fromBits(half(), in[2 * COUNT + i + 1]));
  const half2 sum = __hadd2(a, b), fused = __hfma2(a, b, c);
  out[18 * COUNT + i] = toBits(__low2half(sum));
  out[18 * COUNT + i + 1] = toBits(__high2half(sum));
  out[19 * COUNT + i] = toBits(fused.x);
  out[19 * COUNT + i + 1] = toBits(fused.y);
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  if (T == 0) {
    operate<half><<<COUNT / 256, 256>>>(qkv, attnOut);
    roundHalf<<<COUNT / 256, 256>>>(qkv, attnOut);
  } else {
    operate<__nv_bfloat16><<<COUNT / 256, 256>>>(qkv, attnOut);
    roundBfloat16<<<COUNT / 256, 256>>>(qkv, attnOut);
  }
  pairs<<<COUNT / 512, 256>>>(qkv, attnOut);
}
