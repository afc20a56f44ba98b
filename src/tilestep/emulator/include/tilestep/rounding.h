// Arithmetic with a stated rounding (__fadd_rn, __fmul_rz, ...) and conversions between numbers.
//
// A directed rounding takes the double result, which carries more than twice float's bits, together with the sign of
// what the double itself left out; the two decide the float below and above exactly.
#pragma once

#include "bits.h"
#include "math.h"

namespace tilestep {

enum class Round { nearest, zero, up, down };

// Keeps a rounded result out of the compiler's sight, so that it is not contracted into a fused multiply-add.
template <class T>
TILESTEP_INLINE T rounded_here(T x) {
#if defined(__x86_64__)
  __asm__("" : "+x"(x));
#elif defined(__aarch64__)
  __asm__("" : "+w"(x));
#endif
  return x;
}

// x + rest rounded to float, |rest| below half a unit of x.
inline float round_to_float(double x, double rest, Round mode) {
  const float near = float(x);
  if (mode == Round::nearest || std::isnan(x)) return near;
  const double gap = double(near) - x;  // exact where near is finite: they share their leading bits
  const bool above = gap > 0 || (gap == 0 && rest < 0);
  const bool below = gap < 0 || (gap == 0 && rest > 0);
  if (mode == Round::zero) mode = x > 0 || (x == 0 && rest > 0) ? Round::down : Round::up;
  if (std::isinf(near) && std::isinf(x)) return near;
  if (mode == Round::down && above) return std::nextafter(near, -INFINITY);
  if (mode == Round::up && below) return std::nextafter(near, INFINITY);
  return near;
}

// What a + b loses when it is rounded to double.
inline double rest_of_sum(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

inline float add_rounded(double a, double b, Round mode) {
  const double sum = a + b;
  if (mode == Round::down && sum == 0 && std::signbit(a) != std::signbit(b)) return -0.0f;
  return round_to_float(sum, std::isfinite(sum) ? rest_of_sum(a, b, sum) : 0, mode);
}
inline float multiply_rounded(double a, double b, Round mode) { return round_to_float(a * b, 0, mode); }
inline float divide_rounded(double a, double b, Round mode) {
  const double quotient = a / b;
  double rest = 0;
  if (std::isfinite(quotient) && std::isfinite(b)) {
    rest = std::fma(-quotient, b, a);
    if (b < 0) rest = -rest;
  }
  return round_to_float(quotient, rest, mode);
}
inline float root_rounded(double a, Round mode) {
  const double root = std::sqrt(a);
  return round_to_float(root, std::isfinite(root) ? std::fma(-root, root, a) : 0, mode);
}

template <class Integer, class Real>
inline Integer to_integer(Real x, Round mode) {
  if (std::isnan(x)) return sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : Integer(0);
  switch (mode) {
    case Round::nearest:
      x = std::nearbyint(x);
      break;
    case Round::zero:
      x = std::trunc(x);
      break;
    case Round::up:
      x = std::ceil(x);
      break;
    case Round::down:
      x = std::floor(x);
      break;
  }
  // The limit is a power of two, which float and double hold exactly; the highest integer often is not.
  constexpr bool is_signed = Integer(-1) < Integer(0);
  constexpr int bits = int(sizeof(Integer)) * 8 - (is_signed ? 1 : 0);
  constexpr Integer highest = static_cast<Integer>(~0ull >> (64 - bits));
  const Real limit = Real(2.0) * Real(1ull << (bits - 1));
  if (x >= limit) return highest;
  if (is_signed ? x < -limit : x < 0) return is_signed ? static_cast<Integer>(~highest) : Integer(0);
  return Integer(x);
}

template <class Integer>
inline float to_float(Integer value, Round mode) {
  const float near = float(value);
  if (mode == Round::nearest) return near;
  const __int128 exact = value, got = __int128(double(near));  // at most 2^64: fits
  if (mode == Round::zero) mode = exact > 0 ? Round::down : Round::up;
  if (mode == Round::down && got > exact) return std::nextafter(near, -INFINITY);
  if (mode == Round::up && got < exact) return std::nextafter(near, INFINITY);
  return near;
}

}  // namespace tilestep

#define TILESTEP_ROUNDED(suffix, mode)                                                                               \
  TILESTEP_INLINE float __fadd_##suffix(float a, float b) { return tilestep::add_rounded(a, b, mode); }              \
  TILESTEP_INLINE float __fsub_##suffix(float a, float b) { return tilestep::add_rounded(a, -b, mode); }             \
  TILESTEP_INLINE float __fmul_##suffix(float a, float b) { return tilestep::multiply_rounded(a, b, mode); }         \
  TILESTEP_INLINE float __fdiv_##suffix(float a, float b) { return tilestep::divide_rounded(a, b, mode); }           \
  TILESTEP_INLINE float __frcp_##suffix(float a) { return tilestep::divide_rounded(1.0, a, mode); }                  \
  TILESTEP_INLINE float __fsqrt_##suffix(float a) { return tilestep::root_rounded(a, mode); }                        \
  TILESTEP_INLINE float __fmaf_##suffix(float a, float b, float c) {                                                 \
    return tilestep::add_rounded(double(a) * double(b), c, mode);                                                    \
  }                                                                                                                  \
  TILESTEP_INLINE float __double2float_##suffix(double a) { return tilestep::round_to_float(a, 0, mode); }
TILESTEP_ROUNDED(rz, tilestep::Round::zero)
TILESTEP_ROUNDED(ru, tilestep::Round::up)
TILESTEP_ROUNDED(rd, tilestep::Round::down)
#undef TILESTEP_ROUNDED

TILESTEP_INLINE float __fadd_rn(float a, float b) { return tilestep::rounded_here(a + b); }
TILESTEP_INLINE float __fsub_rn(float a, float b) { return tilestep::rounded_here(a - b); }
TILESTEP_INLINE float __fmul_rn(float a, float b) { return tilestep::rounded_here(a * b); }
TILESTEP_INLINE float __fdiv_rn(float a, float b) { return a / b; }
TILESTEP_INLINE float __frcp_rn(float a) { return 1.0f / a; }
TILESTEP_INLINE float __fsqrt_rn(float a) { return std::sqrt(a); }
TILESTEP_INLINE float __frsqrt_rn(float a) { return float(1.0 / std::sqrt(double(a))); }
TILESTEP_INLINE float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
TILESTEP_INLINE double __dadd_rn(double a, double b) { return tilestep::rounded_here(a + b); }
TILESTEP_INLINE double __dsub_rn(double a, double b) { return tilestep::rounded_here(a - b); }
TILESTEP_INLINE double __dmul_rn(double a, double b) { return tilestep::rounded_here(a * b); }
TILESTEP_INLINE double __ddiv_rn(double a, double b) { return a / b; }
TILESTEP_INLINE double __drcp_rn(double a) { return 1.0 / a; }
TILESTEP_INLINE double __dsqrt_rn(double a) { return std::sqrt(a); }
TILESTEP_INLINE double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
TILESTEP_INLINE float __double2float_rn(double a) { return float(a); }

#define TILESTEP_CONVERSIONS(suffix, mode)                                                                           \
  TILESTEP_INLINE int __float2int_##suffix(float x) { return tilestep::to_integer<int>(x, mode); }                   \
  TILESTEP_INLINE unsigned __float2uint_##suffix(float x) { return tilestep::to_integer<unsigned>(x, mode); }        \
  TILESTEP_INLINE long long __float2ll_##suffix(float x) { return tilestep::to_integer<long long>(x, mode); }        \
  TILESTEP_INLINE unsigned long long __float2ull_##suffix(float x) {                                                 \
    return tilestep::to_integer<unsigned long long>(x, mode);                                                        \
  }                                                                                                                  \
  TILESTEP_INLINE int __double2int_##suffix(double x) { return tilestep::to_integer<int>(x, mode); }                 \
  TILESTEP_INLINE unsigned __double2uint_##suffix(double x) { return tilestep::to_integer<unsigned>(x, mode); }      \
  TILESTEP_INLINE long long __double2ll_##suffix(double x) { return tilestep::to_integer<long long>(x, mode); }      \
  TILESTEP_INLINE unsigned long long __double2ull_##suffix(double x) {                                               \
    return tilestep::to_integer<unsigned long long>(x, mode);                                                        \
  }                                                                                                                  \
  TILESTEP_INLINE float __int2float_##suffix(int x) { return tilestep::to_float(x, mode); }                          \
  TILESTEP_INLINE float __uint2float_##suffix(unsigned x) { return tilestep::to_float(x, mode); }                    \
  TILESTEP_INLINE float __ll2float_##suffix(long long x) { return tilestep::to_float(x, mode); }                     \
  TILESTEP_INLINE float __ull2float_##suffix(unsigned long long x) { return tilestep::to_float(x, mode); }
TILESTEP_CONVERSIONS(rn, tilestep::Round::nearest)
TILESTEP_CONVERSIONS(rz, tilestep::Round::zero)
TILESTEP_CONVERSIONS(ru, tilestep::Round::up)
TILESTEP_CONVERSIONS(rd, tilestep::Round::down)
#undef TILESTEP_CONVERSIONS

TILESTEP_INLINE double __int2double_rn(int x) { return x; }
TILESTEP_INLINE double __uint2double_rn(unsigned x) { return x; }
TILESTEP_INLINE double __ll2double_rn(long long x) { return double(x); }
TILESTEP_INLINE double __ull2double_rn(unsigned long long x) { return double(x); }
