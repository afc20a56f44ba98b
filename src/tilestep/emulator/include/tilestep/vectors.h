// CUDA's vector types: char1 to double4, with CUDA's alignments and make_* functions.
//
// A GPU moves a vector of 2, 4, 8 or 16 bytes with one instruction. In the checked build its copy is therefore one
// access too: without the whole-value copies below, g++ would split a float4 into four reads and clang would turn it
// into a call of memcpy. Vectors of three elements move element by element, as on a GPU.
#pragma once

#include "abi.h"

namespace tilestep {

// A type of so many bytes that may alias anything and is loaded and stored as one.
template <unsigned bytes>
struct Whole;
template <>
struct Whole<2> {
  typedef unsigned short __attribute__((may_alias)) Type;
};
template <>
struct Whole<4> {
  typedef unsigned __attribute__((may_alias)) Type;
};
template <>
struct Whole<8> {
  typedef unsigned long long __attribute__((may_alias)) Type;
};
template <>
struct Whole<16> {
  typedef long long __attribute__((vector_size(16), may_alias)) Type;
};
template <>
struct Whole<32> {  // two instructions of 16 bytes
  struct Type {
    Whole<16>::Type low, high;
  } __attribute__((may_alias));
};

template <unsigned bytes>
TILESTEP_INLINE void move_whole(void* to, const void* from) {
  using Bits = typename Whole<bytes>::Type;
#ifdef __clang__
  // An empty use keeps the value whole: clang would narrow the load to the elements that are used.
  if constexpr (bytes <= 8) {
    Bits bits = *static_cast<const Bits*>(from);
    __asm__("" : "+r"(bits));
    *static_cast<Bits*>(to) = bits;
    return;
  }
#endif
  *static_cast<Bits*>(to) = *static_cast<const Bits*>(from);
}

}  // namespace tilestep

#ifdef TILESTEP_CHECKED
#define TILESTEP_MOVE_WHOLE(name)                                                                        \
  TILESTEP_INLINE name(const name& other) { tilestep::move_whole<sizeof(name)>(this, &other); }          \
  TILESTEP_INLINE name& operator=(const name& other) {                                                   \
    tilestep::move_whole<sizeof(name)>(this, &other);                                                    \
    return *this;                                                                                        \
  }
#else
#define TILESTEP_MOVE_WHOLE(name)
#endif

// The constructors stand in for aggregate initialisation, so that both builds accept the same programs.
#define TILESTEP_VECTORS(name, scalar, align2, align4)                                                   \
  struct name##1 {                                                                                       \
    scalar x;                                                                                            \
  };                                                                                                     \
  struct alignas(align2) name##2 {                                                                       \
    scalar x, y;                                                                                         \
    name##2() = default;                                                                                 \
    TILESTEP_INLINE constexpr name##2(scalar x_, scalar y_ = 0) : x(x_), y(y_) {}                        \
    TILESTEP_MOVE_WHOLE(name##2)                                                                         \
  };                                                                                                     \
  struct alignas(align4) name##4 {                                                                       \
    scalar x, y, z, w;                                                                                   \
    name##4() = default;                                                                                 \
    TILESTEP_INLINE constexpr name##4(scalar x_, scalar y_ = 0, scalar z_ = 0, scalar w_ = 0)            \
        : x(x_), y(y_), z(z_), w(w_) {}                                                                  \
    TILESTEP_MOVE_WHOLE(name##4)                                                                         \
  };                                                                                                     \
  TILESTEP_INLINE name##1 make_##name##1(scalar x) { return name##1{x}; }                                \
  TILESTEP_INLINE name##2 make_##name##2(scalar x, scalar y) { return name##2(x, y); }                   \
  TILESTEP_INLINE name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { return name##4(x, y, z, w); }

#define TILESTEP_VECTOR_OF_3(name, scalar)                                                               \
  struct name##3 {                                                                                       \
    scalar x, y, z;                                                                                      \
  };                                                                                                     \
  TILESTEP_MAKE_3(name, scalar)
#define TILESTEP_MAKE_3(name, scalar)                                                                    \
  TILESTEP_INLINE name##3 make_##name##3(scalar x, scalar y, scalar z) { return name##3{x, y, z}; }

TILESTEP_VECTORS(char, signed char, 2, 4)
TILESTEP_VECTORS(uchar, unsigned char, 2, 4)
TILESTEP_VECTORS(short, short, 4, 8)
TILESTEP_VECTORS(ushort, unsigned short, 4, 8)
TILESTEP_VECTORS(int, int, 8, 16)
TILESTEP_VECTORS(uint, unsigned, 8, 16)
TILESTEP_VECTORS(long, long, 16, 16)
TILESTEP_VECTORS(ulong, unsigned long, 16, 16)
TILESTEP_VECTORS(longlong, long long, 16, 16)
TILESTEP_VECTORS(ulonglong, unsigned long long, 16, 16)
TILESTEP_VECTORS(float, float, 8, 16)
TILESTEP_VECTORS(double, double, 16, 16)

TILESTEP_VECTOR_OF_3(char, signed char)
TILESTEP_VECTOR_OF_3(uchar, unsigned char)
TILESTEP_VECTOR_OF_3(short, short)
TILESTEP_VECTOR_OF_3(ushort, unsigned short)
TILESTEP_VECTOR_OF_3(int, int)
TILESTEP_MAKE_3(uint, unsigned)  // uint3 itself belongs to dim3
TILESTEP_VECTOR_OF_3(long, long)
TILESTEP_VECTOR_OF_3(ulong, unsigned long)
TILESTEP_VECTOR_OF_3(longlong, long long)
TILESTEP_VECTOR_OF_3(ulonglong, unsigned long long)
TILESTEP_VECTOR_OF_3(float, float)
TILESTEP_VECTOR_OF_3(double, double)

#undef TILESTEP_VECTORS
#undef TILESTEP_VECTOR_OF_3
#undef TILESTEP_MAKE_3

using double4_16a = double4;
using long4_16a = long4;
using ulong4_16a = ulong4;
using longlong4_16a = longlong4;
using ulonglong4_16a = ulonglong4;
