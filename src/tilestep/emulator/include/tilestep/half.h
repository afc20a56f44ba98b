// half and half2: CUDA's names for 16-bit numbers with 10 fraction bits.
#pragma once

#include "atomics.h"
#include "small_conversions.h"
#include "small_pair.h"
#include "warp.h"

using __half = tilestep::SmallFloat<tilestep::HalfFormat>;
using __half2 = tilestep::SmallPair<tilestep::HalfFormat>;
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

namespace tilestep {
using half_format = HalfFormat;
template <>
struct AtomicTypeOf<half> {
  static constexpr AtomicType type = AtomicType::f16;
};
template <>
struct AtomicTypeOf<half2> {
  static constexpr AtomicType type = AtomicType::f16x2;
};
}  // namespace tilestep

TILESTEP_SMALL_CONVERSIONS(half, half)
TILESTEP_SHUFFLES(half)
TILESTEP_SHUFFLES(half2)
TILESTEP_ATOMIC(atomicAdd, add, half)
TILESTEP_ATOMIC(atomicAdd, add, half2)

TILESTEP_INLINE half __float2half(float x) { return half(x); }
TILESTEP_INLINE unsigned short __half_as_ushort(half x) { return x.bits; }
TILESTEP_INLINE short __half_as_short(half x) { return static_cast<short>(x.bits); }
TILESTEP_INLINE half __ushort_as_half(unsigned short bits) { return half::of_bits(bits); }
TILESTEP_INLINE half __short_as_half(short bits) { return half::of_bits(static_cast<unsigned short>(bits)); }

TILESTEP_INLINE half2 make_half2(half x, half y) { return half2(x, y); }
TILESTEP_INLINE half2 __halves2half2(half x, half y) { return half2(x, y); }
TILESTEP_INLINE half2 __half2half2(half x) { return half2(x, x); }
TILESTEP_INLINE half2 __float2half2_rn(float x) { return half2(half(x), half(x)); }
TILESTEP_INLINE half2 __floats2half2_rn(float x, float y) { return half2(half(x), half(y)); }
TILESTEP_INLINE half2 __float22half2_rn(float2 v) { return half2(half(v.x), half(v.y)); }
TILESTEP_INLINE float2 __half22float2(half2 v) { return float2(float(v.x), float(v.y)); }
TILESTEP_INLINE half __low2half(half2 v) { return v.x; }
TILESTEP_INLINE half __high2half(half2 v) { return v.y; }
TILESTEP_INLINE half2 __low2half2(half2 v) { return half2(v.x, v.x); }
TILESTEP_INLINE half2 __high2half2(half2 v) { return half2(v.y, v.y); }
TILESTEP_INLINE half2 __lows2half2(half2 a, half2 b) { return half2(a.x, b.x); }
TILESTEP_INLINE half2 __highs2half2(half2 a, half2 b) { return half2(a.y, b.y); }

#define CUDART_INF_FP16 (__ushort_as_half(0x7c00))
#define CUDART_NAN_FP16 (__ushort_as_half(0x7fff))
#define CUDART_MAX_NORMAL_FP16 (__ushort_as_half(0x7bff))
#define CUDART_ZERO_FP16 (__ushort_as_half(0x0000))
#define CUDART_ONE_FP16 (__ushort_as_half(0x3c00))
