// bfloat16 and its pair: CUDA's names for 16-bit numbers with float's exponent and 7 fraction bits.
#pragma once

#include "atomics.h"
#include "small_conversions.h"
#include "small_pair.h"
#include "warp.h"

using __nv_bfloat16 = tilestep::SmallFloat<tilestep::Bfloat16Format>;
using __nv_bfloat162 = tilestep::SmallPair<tilestep::Bfloat16Format>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

namespace tilestep {
using bfloat16_format = Bfloat16Format;
template <>
struct AtomicTypeOf<__nv_bfloat16> {
  static constexpr AtomicType type = AtomicType::bf16;
};
template <>
struct AtomicTypeOf<__nv_bfloat162> {
  static constexpr AtomicType type = AtomicType::bf16x2;
};
}  // namespace tilestep

TILESTEP_SMALL_CONVERSIONS(bfloat16, __nv_bfloat16)
TILESTEP_SHUFFLES(__nv_bfloat16)
TILESTEP_SHUFFLES(__nv_bfloat162)
TILESTEP_ATOMIC(atomicAdd, add, __nv_bfloat16)
TILESTEP_ATOMIC(atomicAdd, add, __nv_bfloat162)

TILESTEP_INLINE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
TILESTEP_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
TILESTEP_INLINE short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.bits); }
TILESTEP_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of_bits(bits); }
TILESTEP_INLINE __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16::of_bits(static_cast<unsigned short>(bits));
}

TILESTEP_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
TILESTEP_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
TILESTEP_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
TILESTEP_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)); }
TILESTEP_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
TILESTEP_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return __nv_bfloat162(__nv_bfloat16(v.x), __nv_bfloat16(v.y));
}
TILESTEP_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return float2(float(v.x), float(v.y)); }
TILESTEP_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
TILESTEP_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
TILESTEP_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
TILESTEP_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
TILESTEP_INLINE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
TILESTEP_INLINE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

#define CUDART_INF_BF16 (__ushort_as_bfloat16(0x7f80))
#define CUDART_NAN_BF16 (__ushort_as_bfloat16(0x7fff))
#define CUDART_MAX_NORMAL_BF16 (__ushort_as_bfloat16(0x7f7f))
#define CUDART_ZERO_BF16 (__ushort_as_bfloat16(0x0000))
#define CUDART_ONE_BF16 (__ushort_as_bfloat16(0x3f80))
