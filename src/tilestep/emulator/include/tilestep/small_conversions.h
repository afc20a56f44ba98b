// Conversions between 16-bit numbers and all others, under the names that CUDA gives them: __float2half_rn,
// __half2int_rz, __ushort2bfloat16_ru, ... `name` is half or bfloat16.
#pragma once

#include "small_float.h"

#define TILESTEP_SMALL_CONVERSIONS(name, Number)                                                                      \
  TILESTEP_INLINE Number __double2##name(double x) { return Number(x); }                                              \
  TILESTEP_INLINE float __##name##2float(Number x) { return x; }                                                      \
  TILESTEP_SMALL_CONVERSION(name, Number, rn, nearest)                                                                \
  TILESTEP_SMALL_CONVERSION(name, Number, rz, zero)                                                                   \
  TILESTEP_SMALL_CONVERSION(name, Number, ru, up)                                                                     \
  TILESTEP_SMALL_CONVERSION(name, Number, rd, down)
#define TILESTEP_SMALL_CONVERSION(name, Number, suffix, mode)                                                         \
  TILESTEP_INLINE Number __float2##name##_##suffix(float x) {                                                         \
    return Number::of_bits(tilestep::float_to_small<tilestep::name##_format>(x, tilestep::Round::mode));              \
  }                                                                                                                   \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, int, int)                                                        \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, uint, unsigned)                                                  \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, short, short)                                                    \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, ushort, unsigned short)                                          \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, ll, long long)                                                   \
  TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, ull, unsigned long long)
#define TILESTEP_SMALL_INTEGER(name, Number, suffix, mode, integer, Integer)                                          \
  TILESTEP_INLINE Integer __##name##2##integer##_##suffix(Number x) {                                                 \
    return tilestep::to_integer<Integer>(float(x), tilestep::Round::mode);                                            \
  }                                                                                                                   \
  TILESTEP_INLINE Number __##integer##2##name##_##suffix(Integer x) {                                                 \
    return Number::of_bits(                                                                                           \
        tilestep::float_to_small<tilestep::name##_format>(tilestep::small_source(x), tilestep::Round::mode));         \
  }
