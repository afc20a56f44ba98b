// Two numbers of 16 bits in one 32-bit word (half2, bfloat162), and what CUDA does with both at once.
#pragma once

#include "small_float.h"

namespace tilestep {

template <class Format>
struct alignas(4) SmallPair {
  using Number = SmallFloat<Format>;

  Number x, y;

  SmallPair() = default;
  TILESTEP_INLINE SmallPair(Number x_, Number y_) : x(x_), y(y_) {}
  TILESTEP_MOVE_WHOLE(SmallPair)

  TILESTEP_INLINE SmallPair& operator+=(SmallPair b) { return *this = *this + b; }
  TILESTEP_INLINE SmallPair& operator-=(SmallPair b) { return *this = *this - b; }
  TILESTEP_INLINE SmallPair& operator*=(SmallPair b) { return *this = *this * b; }
  TILESTEP_INLINE SmallPair& operator/=(SmallPair b) { return *this = *this / b; }

  friend TILESTEP_INLINE SmallPair operator-(SmallPair a) { return SmallPair(-a.x, -a.y); }
  friend TILESTEP_INLINE SmallPair operator+(SmallPair a, SmallPair b) { return SmallPair(a.x + b.x, a.y + b.y); }
  friend TILESTEP_INLINE SmallPair operator-(SmallPair a, SmallPair b) { return SmallPair(a.x - b.x, a.y - b.y); }
  friend TILESTEP_INLINE SmallPair operator*(SmallPair a, SmallPair b) { return SmallPair(a.x * b.x, a.y * b.y); }
  friend TILESTEP_INLINE SmallPair operator/(SmallPair a, SmallPair b) { return SmallPair(a.x / b.x, a.y / b.y); }
  friend TILESTEP_INLINE bool operator==(SmallPair a, SmallPair b) { return a.x == b.x && a.y == b.y; }
  friend TILESTEP_INLINE bool operator!=(SmallPair a, SmallPair b) { return a.x != b.x && a.y != b.y; }
  friend TILESTEP_INLINE bool operator<(SmallPair a, SmallPair b) { return a.x < b.x && a.y < b.y; }
  friend TILESTEP_INLINE bool operator<=(SmallPair a, SmallPair b) { return a.x <= b.x && a.y <= b.y; }
  friend TILESTEP_INLINE bool operator>(SmallPair a, SmallPair b) { return a.x > b.x && a.y > b.y; }
  friend TILESTEP_INLINE bool operator>=(SmallPair a, SmallPair b) { return a.x >= b.x && a.y >= b.y; }

  friend TILESTEP_INLINE SmallPair __h2div(SmallPair a, SmallPair b) { return a / b; }
  friend TILESTEP_INLINE SmallPair __hfma2(SmallPair a, SmallPair b, SmallPair c) {
    return SmallPair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
  }

#define TILESTEP_BOTH_1(name, single) \
  friend TILESTEP_INLINE SmallPair name(SmallPair a) { return SmallPair(single(a.x), single(a.y)); }
#define TILESTEP_BOTH_2(name, single) \
  friend TILESTEP_INLINE SmallPair name(SmallPair a, SmallPair b) { return SmallPair(single(a.x, b.x), single(a.y, b.y)); }
// A comparison of both: 1 or 0 each; with a `b` in its name, whether it holds for both.
#define TILESTEP_BOTH_COMPARED(name, name_b, single)                                       \
  friend TILESTEP_INLINE SmallPair name(SmallPair a, SmallPair b) {                        \
    return SmallPair(Number(float(single(a.x, b.x))), Number(float(single(a.y, b.y))));    \
  }                                                                                        \
  friend TILESTEP_INLINE bool name_b(SmallPair a, SmallPair b) { return single(a.x, b.x) && single(a.y, b.y); }

  TILESTEP_BOTH_1(__hneg2, __hneg)
  TILESTEP_BOTH_1(__habs2, __habs)
  TILESTEP_BOTH_1(h2exp, hexp)
  TILESTEP_BOTH_1(h2exp2, hexp2)
  TILESTEP_BOTH_1(h2exp10, hexp10)
  TILESTEP_BOTH_1(h2log, hlog)
  TILESTEP_BOTH_1(h2log2, hlog2)
  TILESTEP_BOTH_1(h2log10, hlog10)
  TILESTEP_BOTH_1(h2sqrt, hsqrt)
  TILESTEP_BOTH_1(h2rsqrt, hrsqrt)
  TILESTEP_BOTH_1(h2rcp, hrcp)
  TILESTEP_BOTH_1(h2sin, hsin)
  TILESTEP_BOTH_1(h2cos, hcos)
  TILESTEP_BOTH_1(h2tanh, htanh)
  TILESTEP_BOTH_1(h2floor, hfloor)
  TILESTEP_BOTH_1(h2ceil, hceil)
  TILESTEP_BOTH_1(h2trunc, htrunc)
  TILESTEP_BOTH_1(h2rint, hrint)
  TILESTEP_BOTH_2(__hadd2, __hadd)
  TILESTEP_BOTH_2(__hsub2, __hsub)
  TILESTEP_BOTH_2(__hmul2, __hmul)
  TILESTEP_BOTH_2(__hadd2_rn, __hadd)
  TILESTEP_BOTH_2(__hsub2_rn, __hsub)
  TILESTEP_BOTH_2(__hmul2_rn, __hmul)
  TILESTEP_BOTH_2(__hadd2_sat, __hadd_sat)
  TILESTEP_BOTH_2(__hsub2_sat, __hsub_sat)
  TILESTEP_BOTH_2(__hmul2_sat, __hmul_sat)
  TILESTEP_BOTH_2(__hmax2, __hmax)
  TILESTEP_BOTH_2(__hmin2, __hmin)
  TILESTEP_BOTH_2(__hmax2_nan, __hmax_nan)
  TILESTEP_BOTH_2(__hmin2_nan, __hmin_nan)
  TILESTEP_BOTH_COMPARED(__heq2, __hbeq2, __heq)
  TILESTEP_BOTH_COMPARED(__hne2, __hbne2, __hne)
  TILESTEP_BOTH_COMPARED(__hlt2, __hblt2, __hlt)
  TILESTEP_BOTH_COMPARED(__hle2, __hble2, __hle)
  TILESTEP_BOTH_COMPARED(__hgt2, __hbgt2, __hgt)
  TILESTEP_BOTH_COMPARED(__hge2, __hbge2, __hge)
#undef TILESTEP_BOTH_1
#undef TILESTEP_BOTH_2
#undef TILESTEP_BOTH_COMPARED

  friend TILESTEP_INLINE float __low2float(SmallPair a) { return a.x; }
  friend TILESTEP_INLINE float __high2float(SmallPair a) { return a.y; }
  friend TILESTEP_INLINE SmallPair __lowhigh2highlow(SmallPair a) { return SmallPair(a.y, a.x); }
};

}  // namespace tilestep
