// The arithmetic behind half and bfloat16: exact conversions, and float results rounded to nearest even.
//
// Both formats have few enough bits that +, -, *, / and the square root, computed in float and rounded once more, are
// correctly rounded, down to the smallest numbers. A fused multiply-add is not: it is computed in double and rounded to odd on the way, which keeps
// the trace of what was cut off.
#pragma once

#include <cmath>

#include "bits.h"
#include "rounding.h"

namespace tilestep {

TILESTEP_INLINE float half_to_float(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  if (rest >= 0x7c00u) return bits_as<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  // Shifted into a float's place the number is 2^112 too small, subnormals too.
  const float magnitude = bits_as<float>(rest << 13) * 0x1p112f;
  return bits_as<float>(sign | bits_as<unsigned>(magnitude));
}
TILESTEP_INLINE float bfloat16_to_float(unsigned short bits) { return bits_as<float>(unsigned(bits) << 16); }

// Any rounding, for either format. NaN becomes the one NaN 0x7fff, as on the hardware.
template <class Format>
inline unsigned short float_to_small(float value, Round round) {
  constexpr unsigned infinity = Format::kInfinity;
  const unsigned bits = bits_as<unsigned>(value);
  const unsigned sign = bits >> 31;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude == 0x7f800000u) return static_cast<unsigned short>(sign << 15 | infinity);

  // How many of the 24 significant bits do not fit; more of them below the smallest normal number.
  int exponent = int(magnitude >> 23) - 127;
  unsigned significand = magnitude & 0x7fffffu;
  if (magnitude >= 0x800000u) {
    significand |= 0x800000u;
  } else {
    exponent = -126;
  }
  constexpr int lowest = 1 - Format::kBias;
  int dropped = 23 - Format::kFraction;
  int field = exponent + Format::kBias;
  if (exponent < lowest) {
    dropped += lowest - exponent;
    field = 1;
  }
  if (dropped > 31) dropped = 31;  // nothing of it is left but that it was not zero
  const unsigned kept = significand >> dropped;
  const unsigned cut = significand & ((1u << dropped) - 1u);
  const unsigned half_unit = 1u << (dropped - 1);
  bool away = false;
  switch (round) {
    case Round::nearest:
      away = cut > half_unit || (cut == half_unit && (kept & 1u) != 0);
      break;
    case Round::zero:
      break;
    case Round::up:
      away = cut != 0 && sign == 0;
      break;
    case Round::down:
      away = cut != 0 && sign != 0;
      break;
  }
  // A carry out of the significand moves on into the exponent, as it should.
  const unsigned result = (unsigned(field - 1) << Format::kFraction) + kept + (away ? 1u : 0u);
  if (result >= infinity) {
    const bool stays_finite = round == Round::zero || (round == Round::up && sign != 0) ||
                              (round == Round::down && sign == 0);
    return static_cast<unsigned short>(sign << 15 | (stays_finite ? infinity - 1 : infinity));
  }
  return static_cast<unsigned short>(sign << 15 | result);
}

// The common case, rounding to nearest even, without the general machinery.
TILESTEP_INLINE unsigned short float_to_half(float value) {
  const unsigned bits = bits_as<unsigned>(value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(magnitude > 0x7f800000u ? 0x7fffu : sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below half's normal numbers: adding 1/2 lines the bits up with a float's last ones, and rounds.
    const float aligned = bits_as<float>(magnitude) + 0.5f;
    return static_cast<unsigned short>(sign | (bits_as<unsigned>(aligned) - 0x3f000000u));
  }
  const unsigned odd = magnitude >> 13 & 1u;
  return static_cast<unsigned short>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}
TILESTEP_INLINE unsigned short float_to_bfloat16(float value) {
  const unsigned bits = bits_as<unsigned>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// A double as the float beside it whose last bit is odd, unless it is a float: rounding that once more, to fewer
// bits, gives what rounding the double at once would have given.
inline float round_to_odd(double value, bool exact) {
  const float near = float(value);
  if (std::isnan(value) || std::isinf(near)) return near;
  if (exact && double(near) == value) return near;
  unsigned bits = bits_as<unsigned>(near);
  if (std::fabs(double(near)) > std::fabs(value)) bits -= 1;  // toward zero first
  return bits_as<float>(bits | 1u);
}

// The two formats: `kFraction` stored fraction bits, `kBias` of the exponent, the bits of infinity.
struct HalfFormat {
  static constexpr int kFraction = 10, kBias = 15;
  static constexpr unsigned kInfinity = 0x7c00;
  TILESTEP_INLINE static float widen(unsigned short bits) { return half_to_float(bits); }
  TILESTEP_INLINE static unsigned short round(float value) { return float_to_half(value); }
};
struct Bfloat16Format {
  static constexpr int kFraction = 7, kBias = 127;
  static constexpr unsigned kInfinity = 0x7f80;
  TILESTEP_INLINE static float widen(unsigned short bits) { return bfloat16_to_float(bits); }
  TILESTEP_INLINE static unsigned short round(float value) { return float_to_bfloat16(value); }
};

// a * b + c, exact but for one bit that says whether something was cut off. The product of two such numbers is exact
// in double.
inline float fused_to_odd(float a, float b, float c) {
  const double product = double(a) * double(b), sum = product + double(c);
  if (std::isnan(sum) || std::isinf(sum)) return float(sum);
  const double c_part = sum - product;
  const double rest = (product - (sum - c_part)) + (double(c) - c_part);
  if (rest == 0) return round_to_odd(sum, true);
  // The true value lies beside `sum`. Take the double toward zero from it, so that the float below is not passed.
  const bool beyond = (rest > 0) == (sum > 0);
  return round_to_odd(beyond ? sum : std::nextafter(sum, 0.0), false);
}

}  // namespace tilestep
