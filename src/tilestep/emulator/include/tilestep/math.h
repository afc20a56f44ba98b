// Mathematical functions that CUDA has and C++ lacks, and the global min and max.
//
// The functions of <cmath> serve as they are. Names that some C library has, or may get (C23 brings rsqrt and sinpi),
// are macros for functions of our own, so that no declaration of theirs stands in the way.
#pragma once

#include <math.h>

#include <cmath>

#include "abi.h"

#define TILESTEP_MIN_MAX_INTEGER(S, U)                                                          \
  TILESTEP_INLINE S min(S a, S b) { return a < b ? a : b; }                                     \
  TILESTEP_INLINE S max(S a, S b) { return a > b ? a : b; }                                     \
  TILESTEP_INLINE U min(U a, U b) { return a < b ? a : b; }                                     \
  TILESTEP_INLINE U max(U a, U b) { return a > b ? a : b; }                                     \
  TILESTEP_INLINE U min(S a, U b) { return min(static_cast<U>(a), b); }                         \
  TILESTEP_INLINE U max(S a, U b) { return max(static_cast<U>(a), b); }                         \
  TILESTEP_INLINE U min(U a, S b) { return min(a, static_cast<U>(b)); }                         \
  TILESTEP_INLINE U max(U a, S b) { return max(a, static_cast<U>(b)); }
TILESTEP_MIN_MAX_INTEGER(int, unsigned)
TILESTEP_MIN_MAX_INTEGER(long, unsigned long)
TILESTEP_MIN_MAX_INTEGER(long long, unsigned long long)
#undef TILESTEP_MIN_MAX_INTEGER

// In floating point min and max are fmin and fmax: a NaN gives way to the other operand.
TILESTEP_INLINE float min(float a, float b) { return a < b || b != b ? a : b; }
TILESTEP_INLINE float max(float a, float b) { return a > b || b != b ? a : b; }
TILESTEP_INLINE double min(double a, double b) { return a < b || b != b ? a : b; }
TILESTEP_INLINE double max(double a, double b) { return a > b || b != b ? a : b; }
TILESTEP_INLINE double min(float a, double b) { return min(static_cast<double>(a), b); }
TILESTEP_INLINE double max(float a, double b) { return max(static_cast<double>(a), b); }
TILESTEP_INLINE double min(double a, float b) { return min(a, static_cast<double>(b)); }
TILESTEP_INLINE double max(double a, float b) { return max(a, static_cast<double>(b)); }

TILESTEP_INLINE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
TILESTEP_INLINE unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
TILESTEP_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
TILESTEP_INLINE long long llmax(long long a, long long b) { return a > b ? a : b; }
TILESTEP_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
TILESTEP_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// float in float, double in double. The double of a root or a quotient carries more than twice float's bits, so
// rounding it again gives the correctly rounded float.
#define rsqrtf tilestep_rsqrtf
#define rsqrt tilestep_rsqrt
#define rcbrtf tilestep_rcbrtf
#define rcbrt tilestep_rcbrt
TILESTEP_INLINE double rsqrt(double x) { return 1.0 / std::sqrt(x); }
TILESTEP_INLINE float rsqrt(float x) { return float(1.0 / std::sqrt(double(x))); }
TILESTEP_INLINE float rsqrtf(float x) { return float(1.0 / std::sqrt(double(x))); }
TILESTEP_INLINE double rcbrt(double x) { return 1.0 / std::cbrt(x); }
TILESTEP_INLINE float rcbrtf(float x) { return float(1.0 / std::cbrt(double(x))); }

#define exp10f tilestep_exp10f
#define exp10 tilestep_exp10
TILESTEP_INLINE double exp10(double x) { return std::pow(10.0, x); }
TILESTEP_INLINE float exp10(float x) { return float(std::pow(10.0, double(x))); }
TILESTEP_INLINE float exp10f(float x) { return float(std::pow(10.0, double(x))); }

#define fdividef tilestep_fdividef
TILESTEP_INLINE float fdividef(float x, float y) { return x / y; }

#define sincosf tilestep_sincosf
#define sincos tilestep_sincos
TILESTEP_INLINE void sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
TILESTEP_INLINE void sincos(double x, double* sine, double* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
TILESTEP_INLINE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

namespace tilestep {

constexpr double kPi = 3.14159265358979323846;

// Reduces by periods first, which is exact, and then by halves, so that whole and half numbers give 0 and 1 exactly.
inline double sine_of_pi_times(double x) {
  double r = std::fmod(x, 2.0);
  if (r > 1.0) r -= 2.0;
  if (r < -1.0) r += 2.0;
  if (r > 0.5) r = 1.0 - r;
  if (r < -0.5) r = -1.0 - r;
  return std::sin(kPi * r);
}
inline double cosine_of_pi_times(double x) { return sine_of_pi_times(std::fmod(std::fabs(x), 2.0) + 0.5); }

}  // namespace tilestep

#define sinpif tilestep_sinpif
#define sinpi tilestep_sinpi
#define cospif tilestep_cospif
#define cospi tilestep_cospi
#define sincospif tilestep_sincospif
#define sincospi tilestep_sincospi
TILESTEP_INLINE float sinpif(float x) { return float(tilestep::sine_of_pi_times(x)); }
TILESTEP_INLINE double sinpi(double x) { return tilestep::sine_of_pi_times(x); }
TILESTEP_INLINE float cospif(float x) { return float(tilestep::cosine_of_pi_times(x)); }
TILESTEP_INLINE double cospi(double x) { return tilestep::cosine_of_pi_times(x); }
TILESTEP_INLINE void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
TILESTEP_INLINE void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

#define normcdff tilestep_normcdff
#define normcdf tilestep_normcdf
#define norm3df tilestep_norm3df
#define norm4df tilestep_norm4df
#define rnorm3df tilestep_rnorm3df
#define rnorm4df tilestep_rnorm4df
#define rhypotf tilestep_rhypotf
#define rhypot tilestep_rhypot
TILESTEP_INLINE double normcdf(double x) { return 0.5 * std::erfc(x * -0.70710678118654752440); }
TILESTEP_INLINE float normcdff(float x) { return float(normcdf(double(x))); }
TILESTEP_INLINE float norm3df(float a, float b, float c) {
  return float(std::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
TILESTEP_INLINE float norm4df(float a, float b, float c, float d) {
  return float(std::sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
TILESTEP_INLINE float rnorm3df(float a, float b, float c) {
  return float(1.0 / std::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
TILESTEP_INLINE float rnorm4df(float a, float b, float c, float d) {
  return float(1.0 / std::sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
TILESTEP_INLINE float rhypotf(float a, float b) { return float(1.0 / std::sqrt(double(a) * a + double(b) * b)); }
TILESTEP_INLINE double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
