// A number of 16 bits, half or bfloat16: one value (SmallFloat) and what CUDA does with it.
//
// Every operation computes in float and rounds once to nearest even (small_formats.h says why that is exact). The
// operations are friends, so that they take a float or an int where CUDA's do, and only beside a 16-bit number.
#pragma once

#include "fast_math.h"
#include "rounding.h"
#include "small_formats.h"
#include "vectors.h"

namespace tilestep {

template <class Number>
using IfNumber = std::enable_if_t<std::is_arithmetic<Number>::value, int>;

// Any number as a float that still rounds to 16 bits as the number itself would.
TILESTEP_INLINE float small_source(float value) { return value; }
TILESTEP_INLINE float small_source(double value) { return round_to_odd(value, true); }
template <class Integer>
TILESTEP_INLINE float small_source(Integer value) {
  const float near = to_float(static_cast<long long>(value), Round::zero);
  return static_cast<long long>(near) == static_cast<long long>(value) ? near : bits_as<float>(bits_as<unsigned>(near) | 1u);
}
TILESTEP_INLINE float small_source(unsigned long long value) {
  const bool top = value >> 63 != 0;  // halved, keeping the trace of the lost bit, to fit a long long
  return top ? 2.0f * small_source(static_cast<long long>(value >> 1 | (value & 1))) : small_source(static_cast<long long>(value));
}
TILESTEP_INLINE float small_source(unsigned long value) { return small_source(static_cast<unsigned long long>(value)); }

template <class Format>
struct SmallFloat {
  unsigned short bits;

  SmallFloat() = default;
  template <class Number, IfNumber<Number> = 0>
  TILESTEP_INLINE SmallFloat(Number value) : bits(Format::round(small_source(value))) {}

  template <class Other>
  TILESTEP_INLINE explicit SmallFloat(SmallFloat<Other> other) : SmallFloat(float(other)) {}

  TILESTEP_INLINE static SmallFloat of_bits(unsigned short bits) {
    SmallFloat number;
    number.bits = bits;
    return number;
  }
  TILESTEP_INLINE operator float() const { return Format::widen(bits); }

  TILESTEP_INLINE SmallFloat& operator+=(SmallFloat b) { return *this = *this + b; }
  TILESTEP_INLINE SmallFloat& operator-=(SmallFloat b) { return *this = *this - b; }
  TILESTEP_INLINE SmallFloat& operator*=(SmallFloat b) { return *this = *this * b; }
  TILESTEP_INLINE SmallFloat& operator/=(SmallFloat b) { return *this = *this / b; }
  TILESTEP_INLINE SmallFloat& operator++() { return *this += SmallFloat(1.0f); }
  TILESTEP_INLINE SmallFloat& operator--() { return *this -= SmallFloat(1.0f); }
  TILESTEP_INLINE SmallFloat operator++(int) {
    const SmallFloat before = *this;
    ++*this;
    return before;
  }
  TILESTEP_INLINE SmallFloat operator--(int) {
    const SmallFloat before = *this;
    --*this;
    return before;
  }

  friend TILESTEP_INLINE SmallFloat operator+(SmallFloat a) { return a; }
  friend TILESTEP_INLINE SmallFloat operator-(SmallFloat a) { return __hneg(a); }
  friend TILESTEP_INLINE SmallFloat operator+(SmallFloat a, SmallFloat b) { return rounded(a.wide() + b.wide()); }
  friend TILESTEP_INLINE SmallFloat operator-(SmallFloat a, SmallFloat b) { return rounded(a.wide() - b.wide()); }
  friend TILESTEP_INLINE SmallFloat operator*(SmallFloat a, SmallFloat b) { return rounded(a.wide() * b.wide()); }
  friend TILESTEP_INLINE SmallFloat operator/(SmallFloat a, SmallFloat b) { return rounded(a.wide() / b.wide()); }
  friend TILESTEP_INLINE bool operator==(SmallFloat a, SmallFloat b) { return a.wide() == b.wide(); }
  friend TILESTEP_INLINE bool operator!=(SmallFloat a, SmallFloat b) { return a.wide() != b.wide(); }
  friend TILESTEP_INLINE bool operator<(SmallFloat a, SmallFloat b) { return a.wide() < b.wide(); }
  friend TILESTEP_INLINE bool operator<=(SmallFloat a, SmallFloat b) { return a.wide() <= b.wide(); }
  friend TILESTEP_INLINE bool operator>(SmallFloat a, SmallFloat b) { return a.wide() > b.wide(); }
  friend TILESTEP_INLINE bool operator>=(SmallFloat a, SmallFloat b) { return a.wide() >= b.wide(); }

  friend TILESTEP_INLINE SmallFloat __hneg(SmallFloat a) {
    return of_bits(__hisnan(a) ? static_cast<unsigned short>(0x7fff) : static_cast<unsigned short>(a.bits ^ 0x8000u));
  }
  friend TILESTEP_INLINE SmallFloat __habs(SmallFloat a) { return of_bits(static_cast<unsigned short>(a.bits & 0x7fffu)); }
  friend TILESTEP_INLINE SmallFloat __hadd(SmallFloat a, SmallFloat b) { return a + b; }
  friend TILESTEP_INLINE SmallFloat __hsub(SmallFloat a, SmallFloat b) { return a - b; }
  friend TILESTEP_INLINE SmallFloat __hmul(SmallFloat a, SmallFloat b) { return a * b; }
  friend TILESTEP_INLINE SmallFloat __hdiv(SmallFloat a, SmallFloat b) { return a / b; }
  friend TILESTEP_INLINE SmallFloat __hadd_rn(SmallFloat a, SmallFloat b) { return a + b; }
  friend TILESTEP_INLINE SmallFloat __hsub_rn(SmallFloat a, SmallFloat b) { return a - b; }
  friend TILESTEP_INLINE SmallFloat __hmul_rn(SmallFloat a, SmallFloat b) { return a * b; }
  friend TILESTEP_INLINE SmallFloat __hfma(SmallFloat a, SmallFloat b, SmallFloat c) {
    return rounded(fused_to_odd(a.wide(), b.wide(), c.wide()));
  }
  friend TILESTEP_INLINE SmallFloat __hadd_sat(SmallFloat a, SmallFloat b) { return saturated(a + b); }
  friend TILESTEP_INLINE SmallFloat __hsub_sat(SmallFloat a, SmallFloat b) { return saturated(a - b); }
  friend TILESTEP_INLINE SmallFloat __hmul_sat(SmallFloat a, SmallFloat b) { return saturated(a * b); }
  friend TILESTEP_INLINE SmallFloat __hfma_sat(SmallFloat a, SmallFloat b, SmallFloat c) { return saturated(__hfma(a, b, c)); }
  friend TILESTEP_INLINE SmallFloat __hfma_relu(SmallFloat a, SmallFloat b, SmallFloat c) {
    return __hmax_nan(__hfma(a, b, c), of_bits(0));
  }

  // A NaN gives way to the other operand; in the _nan variants it prevails. -0 is below +0.
  friend TILESTEP_INLINE SmallFloat __hmax(SmallFloat a, SmallFloat b) {
    if (__hisnan(a)) return __hisnan(b) ? of_bits(0x7fff) : b;
    if (__hisnan(b)) return a;
    if (a.wide() == b.wide()) return of_bits(static_cast<unsigned short>(a.bits & b.bits));
    return a.wide() > b.wide() ? a : b;
  }
  friend TILESTEP_INLINE SmallFloat __hmin(SmallFloat a, SmallFloat b) {
    if (__hisnan(a)) return __hisnan(b) ? of_bits(0x7fff) : b;
    if (__hisnan(b)) return a;
    if (a.wide() == b.wide()) return of_bits(static_cast<unsigned short>(a.bits | b.bits));
    return a.wide() < b.wide() ? a : b;
  }
  friend TILESTEP_INLINE SmallFloat __hmax_nan(SmallFloat a, SmallFloat b) {
    return __hisnan(a) || __hisnan(b) ? of_bits(0x7fff) : __hmax(a, b);
  }
  friend TILESTEP_INLINE SmallFloat __hmin_nan(SmallFloat a, SmallFloat b) {
    return __hisnan(a) || __hisnan(b) ? of_bits(0x7fff) : __hmin(a, b);
  }

  friend TILESTEP_INLINE bool __heq(SmallFloat a, SmallFloat b) { return a == b; }
  friend TILESTEP_INLINE bool __hne(SmallFloat a, SmallFloat b) { return a < b || a > b; }
  friend TILESTEP_INLINE bool __hlt(SmallFloat a, SmallFloat b) { return a < b; }
  friend TILESTEP_INLINE bool __hle(SmallFloat a, SmallFloat b) { return a <= b; }
  friend TILESTEP_INLINE bool __hgt(SmallFloat a, SmallFloat b) { return a > b; }
  friend TILESTEP_INLINE bool __hge(SmallFloat a, SmallFloat b) { return a >= b; }
  friend TILESTEP_INLINE bool __hequ(SmallFloat a, SmallFloat b) { return !__hne(a, b); }
  friend TILESTEP_INLINE bool __hneu(SmallFloat a, SmallFloat b) { return !(a == b); }
  friend TILESTEP_INLINE bool __hltu(SmallFloat a, SmallFloat b) { return !(a >= b); }
  friend TILESTEP_INLINE bool __hleu(SmallFloat a, SmallFloat b) { return !(a > b); }
  friend TILESTEP_INLINE bool __hgtu(SmallFloat a, SmallFloat b) { return !(a <= b); }
  friend TILESTEP_INLINE bool __hgeu(SmallFloat a, SmallFloat b) { return !(a < b); }
  friend TILESTEP_INLINE bool __hisnan(SmallFloat a) { return (a.bits & 0x7fffu) > Format::kInfinity; }
  friend TILESTEP_INLINE int __hisinf(SmallFloat a) {
    return (a.bits & 0x7fffu) != Format::kInfinity ? 0 : (a.bits & 0x8000u) != 0 ? -1 : 1;
  }

#define TILESTEP_SMALL_FUNCTION(name, expression)                   \
  friend TILESTEP_INLINE SmallFloat name(SmallFloat a) {            \
    const float x = a.wide();                                       \
    return rounded(expression);                                     \
  }
  TILESTEP_SMALL_FUNCTION(hexp, std::exp(x))
  TILESTEP_SMALL_FUNCTION(hexp2, std::exp2(x))
  TILESTEP_SMALL_FUNCTION(hexp10, exp10f(x))
  TILESTEP_SMALL_FUNCTION(hlog, std::log(x))
  TILESTEP_SMALL_FUNCTION(hlog2, std::log2(x))
  TILESTEP_SMALL_FUNCTION(hlog10, std::log10(x))
  TILESTEP_SMALL_FUNCTION(hsqrt, std::sqrt(x))
  TILESTEP_SMALL_FUNCTION(hrsqrt, rsqrtf(x))
  TILESTEP_SMALL_FUNCTION(hrcp, 1.0f / x)
  TILESTEP_SMALL_FUNCTION(hsin, std::sin(x))
  TILESTEP_SMALL_FUNCTION(hcos, std::cos(x))
  TILESTEP_SMALL_FUNCTION(htanh, std::tanh(x))
  TILESTEP_SMALL_FUNCTION(htanh_approx, std::tanh(x))
  TILESTEP_SMALL_FUNCTION(hfloor, std::floor(x))
  TILESTEP_SMALL_FUNCTION(hceil, std::ceil(x))
  TILESTEP_SMALL_FUNCTION(htrunc, std::trunc(x))
  TILESTEP_SMALL_FUNCTION(hrint, std::nearbyint(x))
#undef TILESTEP_SMALL_FUNCTION

  TILESTEP_INLINE float wide() const { return Format::widen(bits); }
  TILESTEP_INLINE static SmallFloat rounded(float value) { return of_bits(Format::round(value)); }
  TILESTEP_INLINE static SmallFloat saturated(SmallFloat a) { return rounded(tilestep_saturatef(a.wide())); }
};

}  // namespace tilestep
