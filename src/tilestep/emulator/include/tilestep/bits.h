// Integer intrinsics: bit patterns of numbers, counting, permuting and shifting bits, wide products.
#pragma once

#include <cstring>

#include "abi.h"

namespace tilestep {

template <class To, class From>
TILESTEP_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "the two have one size");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

}  // namespace tilestep

TILESTEP_INLINE int __float_as_int(float x) { return tilestep::bits_as<int>(x); }
TILESTEP_INLINE unsigned __float_as_uint(float x) { return tilestep::bits_as<unsigned>(x); }
TILESTEP_INLINE float __int_as_float(int x) { return tilestep::bits_as<float>(x); }
TILESTEP_INLINE float __uint_as_float(unsigned x) { return tilestep::bits_as<float>(x); }
TILESTEP_INLINE long long __double_as_longlong(double x) { return tilestep::bits_as<long long>(x); }
TILESTEP_INLINE double __longlong_as_double(long long x) { return tilestep::bits_as<double>(x); }
TILESTEP_INLINE int __double2hiint(double x) { return int(tilestep::bits_as<unsigned long long>(x) >> 32); }
TILESTEP_INLINE int __double2loint(double x) { return int(tilestep::bits_as<unsigned long long>(x)); }
TILESTEP_INLINE double __hiloint2double(int high, int low) {
  return tilestep::bits_as<double>(static_cast<unsigned long long>(unsigned(high)) << 32 | unsigned(low));
}

TILESTEP_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
TILESTEP_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TILESTEP_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
TILESTEP_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
TILESTEP_INLINE int __ffs(int x) { return __builtin_ffs(x); }
TILESTEP_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

TILESTEP_INLINE unsigned __brev(unsigned x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
TILESTEP_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}

// Byte i of the result is byte (selector >> 4i) & 7 of y:x. The fourth bit of each selector is ignored, as it is by a
// GPU (PTX's prmt would spread the byte's sign).
TILESTEP_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) result |= (unsigned(bytes >> (8 * (selector >> (4 * i) & 7u))) & 0xffu) << (8 * i);
  return result;
}

TILESTEP_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32);
}
TILESTEP_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
TILESTEP_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
TILESTEP_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

TILESTEP_INLINE int __mul24(int a, int b) { return int(unsigned(int(unsigned(a) << 8) >> 8) * unsigned(int(unsigned(b) << 8) >> 8)); }
TILESTEP_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
TILESTEP_INLINE int __mulhi(int a, int b) { return int(static_cast<long long>(a) * b >> 32); }
TILESTEP_INLINE unsigned __umulhi(unsigned a, unsigned b) { return unsigned(static_cast<unsigned long long>(a) * b >> 32); }
TILESTEP_INLINE long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
TILESTEP_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
TILESTEP_INLINE unsigned __sad(int a, int b, unsigned c) { return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c; }
TILESTEP_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
TILESTEP_INLINE int __hadd(int a, int b) { return int((static_cast<long long>(a) + b) >> 1); }
TILESTEP_INLINE int __rhadd(int a, int b) { return int((static_cast<long long>(a) + b + 1) >> 1); }
TILESTEP_INLINE unsigned __uhadd(unsigned a, unsigned b) { return unsigned((static_cast<unsigned long long>(a) + b) >> 1); }

// Four products of signed or unsigned bytes, summed onto c.
TILESTEP_INLINE int __dp4a(int a, int b, int c) {
  unsigned sum = unsigned(c);
  for (int i = 0; i < 32; i += 8) {
    sum += unsigned(static_cast<signed char>(unsigned(a) >> i) * static_cast<signed char>(unsigned(b) >> i));
  }
  return int(sum);
}
TILESTEP_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
