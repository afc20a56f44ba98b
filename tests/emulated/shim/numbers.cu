// Mathematical functions and intrinsics of numbers. Input rows: floats a, b, c and whole numbers p, q (their bits).
// Output: one row a result, as bits. T = 0: floats. T = 1: integers.
#include <algorithm>

constexpr int COUNT = 4096;

__global__ void floats(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = in[i], b = in[COUNT + i], c = in[2 * COUNT + i];
  int row = 0;
  auto put = [&](float value) { out[COUNT * row++ + i] = value; };
  auto bits = [&](unsigned value) { out[COUNT * row++ + i] = __uint_as_float(value); };
  // 0: rounded, each in four ways
  put(__fadd_rn(a, b)), put(__fadd_rz(a, b)), put(__fadd_ru(a, b)), put(__fadd_rd(a, b));
  put(__fsub_rn(a, b)), put(__fsub_rz(a, b)), put(__fsub_ru(a, b)), put(__fsub_rd(a, b));
  put(__fmul_rn(a, b)), put(__fmul_rz(a, b)), put(__fmul_ru(a, b)), put(__fmul_rd(a, b));
  put(__fdiv_rn(a, b)), put(__fdiv_rz(a, b)), put(__fdiv_ru(a, b)), put(__fdiv_rd(a, b));
  put(__fsqrt_rn(a)), put(__fsqrt_rz(a)), put(__fsqrt_ru(a)), put(__fsqrt_rd(a));
  put(__fmaf_rn(a, b, c)), put(__fmaf_rz(a, b, c)), put(__fmaf_ru(a, b, c)), put(__fmaf_rd(a, b, c));
  // 24: conversions
  bits(__float2int_rn(a)), bits(__float2int_rz(a)), bits(__float2int_ru(a)), bits(__float2int_rd(a));
  bits(__float2uint_rn(a)), bits(__float2uint_rz(a));
  const int p = __float_as_int(in[3 * COUNT + i]);
  put(__int2float_rn(p)), put(__int2float_rz(p)), put(__int2float_ru(p)), put(__int2float_rd(p));
  // 34: plain functions
  put(rsqrtf(a)), put(__frcp_rn(a)), put(__frsqrt_rn(a)), put(__saturatef(a));
  put(fminf(a, b)), put(fmaxf(a, b)), put(min(a, b)), put(max(a, b));
  put(__expf(b)), put(expf(b)), put(exp2f(b)), put(exp10f(b)), put(__logf(a)), put(__log2f(a)), put(__powf(a, 0.5f));
  put(__fdividef(a, b)), put(sinpif(b)), put(cospif(b)), put(tanhf(b)), put(erff(b)), put(rcbrtf(a)), put(normcdff(b));
  float s, k;
  sincosf(b, &s, &k);
  put(s), put(k);
  __sincosf(b, &s, &k);
  put(s), put(k);
  put(rnorm3df(a, b, c)), put(copysignf(a, b)), put(ldexpf(a, 3)), put(fmodf(a, b));
  bits(isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * signbit(a));
}

__global__ void integers(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned p = __float_as_uint(in[3 * COUNT + i]), q = __float_as_uint(in[4 * COUNT + i]);
  const unsigned long long wide = (unsigned long long)p << 32 | q;
  int row = 0;
  auto bits = [&](unsigned value) { out[COUNT * row++ + i] = __uint_as_float(value); };
  bits(__popc(p)), bits(__clz(p >> (q & 31))), bits(__ffs(p << (q & 31))), bits(__brev(p));
  bits(__popcll(wide)), bits(__clzll(wide >> (q & 63))), bits(__ffsll(wide << (q & 63))), bits(__brevll(wide) >> 32);
  bits(__byte_perm(p, q, p ^ q)), bits(__funnelshift_l(p, q, q)), bits(__funnelshift_r(p, q, p));
  bits(__funnelshift_lc(p, q, p & 63)), bits(__funnelshift_rc(p, q, q & 63));
  bits(__mul24(p, q)), bits(__umul24(p, q)), bits(__mulhi((int)p, (int)q)), bits(__umulhi(p, q));
  bits(__mul64hi((long long)wide, (long long)q) & 0xffffffff), bits(__umul64hi(wide, wide) >> 32);
  bits(__dp4a((int)p, (int)q, 5)), bits(__dp4a(p, q, 5u)), bits(__sad((int)p, (int)q, 1u)), bits(__usad(p, q, 1u));
  bits(__hadd((int)p, (int)q)), bits(__rhadd((int)p, (int)q)), bits(__uhadd(p, q));
  bits(min(p, q)), bits(max((int)p, (int)q)), bits(min((int)p, q)), bits(max(p, q));
  bits(__double2hiint(__hiloint2double(p & 0x7fefffff, q))), bits(__double2loint(__hiloint2double(p & 0x7fefffff, q)));
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  if (T == 0) floats<<<COUNT / 128, 128>>>(qkv, attnOut);
  if (T == 1) integers<<<COUNT / 128, 128>>>(qkv, attnOut);
}
