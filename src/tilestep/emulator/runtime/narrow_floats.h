// half and bfloat16 as bits: widening, and narrowing to nearest, ties to even, as a GPU does.
#pragma once

#include <cstdint>
#include <cstring>

namespace tilestep {

inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Drops the lowest `count` bits (1 to 31) of `value`, rounded to nearest even.
inline uint32_t round_off(uint32_t value, unsigned count) {
  const uint32_t half = 1u << (count - 1);
  const uint32_t rest = value & ((half << 1) - 1);
  const uint32_t kept = value >> count;
  return kept + (rest > half || (rest == half && (kept & 1u) != 0));
}

inline float bfloat16_to_float(uint16_t value) { return float_of_bits(uint32_t(value) << 16); }

inline uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return uint16_t(round_off(bits, 16));
}

inline float half_to_float(uint16_t value) {
  const uint32_t sign = uint32_t(value & 0x8000u) << 16;
  const uint32_t exponent = value >> 10 & 31u, fraction = value & 1023u;
  if (exponent == 31) return float_of_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = float(fraction) * (1.0f / 16777216.0f);  // subnormal: a multiple of 2^-24
  return float_of_bits(sign | bits_of_float(magnitude));
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint16_t sign = uint16_t(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  const int exponent = int(magnitude >> 23) - 127;
  if (exponent > 15) return uint16_t(sign | 0x7c00u);
  if (exponent >= -14) return uint16_t(sign | round_off(magnitude - (112u << 23), 13));  // may round up to infinity
  if (exponent < -25) return sign;
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  return uint16_t(sign | round_off(significand, unsigned(-1 - exponent)));
}

}  // namespace tilestep
