// The fast intrinsics: __expf, __logf, __sinf, __fdividef and their family.
//
// The hardware has approximate 2^x and log2(x); the others are made of these with one multiplication in float. That
// multiplication is where they lose accuracy, about |x| units in the last place for __expf(x), and so it is made here.
#pragma once

#include "math.h"

namespace tilestep {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLog2Of10 = 3.3219280948873623f;
constexpr float kLn2 = 0.6931471805599453f;
constexpr float kLog10Of2 = 0.3010299956639812f;

}  // namespace tilestep

// glibc declares functions of the same names.
#define __expf tilestep_fast_expf
#define __exp10f tilestep_fast_exp10f
#define __logf tilestep_fast_logf
#define __log2f tilestep_fast_log2f
#define __log10f tilestep_fast_log10f
#define __sinf tilestep_fast_sinf
#define __cosf tilestep_fast_cosf
#define __tanf tilestep_fast_tanf
#define __tanhf tilestep_fast_tanhf
#define __sincosf tilestep_fast_sincosf
#define __powf tilestep_fast_powf
#define __fdividef tilestep_fast_fdividef
#define __saturatef tilestep_saturatef

TILESTEP_INLINE float __expf(float x) { return std::exp2(x * tilestep::kLog2E); }
TILESTEP_INLINE float __exp10f(float x) { return std::exp2(x * tilestep::kLog2Of10); }
TILESTEP_INLINE float __log2f(float x) { return std::log2(x); }
TILESTEP_INLINE float __logf(float x) { return std::log2(x) * tilestep::kLn2; }
TILESTEP_INLINE float __log10f(float x) { return std::log2(x) * tilestep::kLog10Of2; }
TILESTEP_INLINE float __sinf(float x) { return std::sin(x); }
TILESTEP_INLINE float __cosf(float x) { return std::cos(x); }
TILESTEP_INLINE float __tanf(float x) { return std::sin(x) / std::cos(x); }
TILESTEP_INLINE float __tanhf(float x) { return std::tanh(x); }
TILESTEP_INLINE void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
TILESTEP_INLINE float __powf(float x, float y) { return std::exp2(y * std::log2(x)); }

// For a divisor beyond 2^126 the hardware's reciprocal has gone to zero.
TILESTEP_INLINE float __fdividef(float x, float y) {
  const float magnitude = std::fabs(y);
  if (magnitude > 0x1p126f && magnitude <= 0x1.fffffep127f) return std::isinf(x) ? x * 0.0f : std::copysign(0.0f, x * y);
  return x / y;
}

// Clamps to [0, 1]; NaN becomes 0.
TILESTEP_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
