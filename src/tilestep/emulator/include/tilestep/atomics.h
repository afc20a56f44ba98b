// Atomic functions, each of them one call of the machine, which makes it one step and tells the checkers.
//
// The _block and _system variants differ from the plain one only in scope, which one machine cannot tell apart.
#pragma once

#include <cstring>

#include "abi.h"

namespace tilestep {

template <class T>
struct AtomicTypeOf;
template <>
struct AtomicTypeOf<int> {
  static constexpr AtomicType type = AtomicType::i32;
};
template <>
struct AtomicTypeOf<unsigned> {
  static constexpr AtomicType type = AtomicType::u32;
};
template <>
struct AtomicTypeOf<float> {
  static constexpr AtomicType type = AtomicType::f32;
};
template <>
struct AtomicTypeOf<long long> {
  static constexpr AtomicType type = AtomicType::i64;
};
template <>
struct AtomicTypeOf<unsigned long long> {
  static constexpr AtomicType type = AtomicType::u64;
};
template <>
struct AtomicTypeOf<double> {
  static constexpr AtomicType type = AtomicType::f64;
};
template <>
struct AtomicTypeOf<unsigned short> {
  static constexpr AtomicType type = AtomicType::u16;
};

// The value that was there before. Operands travel as bits in 64-bit words.
template <class T>
TILESTEP_INLINE T atomic(T* address, AtomicOp op, T operand, T compare = T()) {
  uint64_t operand_bits = 0, compare_bits = 0;
  __builtin_memcpy(static_cast<void*>(&operand_bits), &operand, sizeof operand);
  __builtin_memcpy(static_cast<void*>(&compare_bits), &compare, sizeof compare);
  const uint64_t old_bits = tilestep_atomic(address, int(op), int(AtomicTypeOf<T>::type), operand_bits, compare_bits);
  T old;
  __builtin_memcpy(static_cast<void*>(&old), &old_bits, sizeof old);
  return old;
}

}  // namespace tilestep

// Used again for the 16-bit numbers (half.h, bfloat16.h).
#define TILESTEP_ATOMIC(name, op, T)                                                                        \
  TILESTEP_INLINE T name(T* address, T value) { return tilestep::atomic<T>(address, tilestep::AtomicOp::op, value); } \
  TILESTEP_INLINE T name##_block(T* address, T value) { return tilestep::atomic<T>(address, tilestep::AtomicOp::op, value); } \
  TILESTEP_INLINE T name##_system(T* address, T value) { return tilestep::atomic<T>(address, tilestep::AtomicOp::op, value); }
#define TILESTEP_ATOMIC_CAS(T)                                                                              \
  TILESTEP_INLINE T atomicCAS(T* address, T compare, T value) {                                             \
    return tilestep::atomic<T>(address, tilestep::AtomicOp::compare_and_swap, value, compare);              \
  }                                                                                                         \
  TILESTEP_INLINE T atomicCAS_block(T* address, T compare, T value) { return atomicCAS(address, compare, value); } \
  TILESTEP_INLINE T atomicCAS_system(T* address, T compare, T value) { return atomicCAS(address, compare, value); }

TILESTEP_ATOMIC(atomicAdd, add, int)
TILESTEP_ATOMIC(atomicAdd, add, unsigned)
TILESTEP_ATOMIC(atomicAdd, add, unsigned long long)
TILESTEP_ATOMIC(atomicAdd, add, float)
TILESTEP_ATOMIC(atomicAdd, add, double)
TILESTEP_ATOMIC(atomicSub, sub, int)
TILESTEP_ATOMIC(atomicSub, sub, unsigned)
TILESTEP_ATOMIC(atomicExch, exchange, int)
TILESTEP_ATOMIC(atomicExch, exchange, unsigned)
TILESTEP_ATOMIC(atomicExch, exchange, unsigned long long)
TILESTEP_ATOMIC(atomicExch, exchange, float)
TILESTEP_ATOMIC(atomicMin, minimum, int)
TILESTEP_ATOMIC(atomicMin, minimum, unsigned)
TILESTEP_ATOMIC(atomicMin, minimum, long long)
TILESTEP_ATOMIC(atomicMin, minimum, unsigned long long)
TILESTEP_ATOMIC(atomicMax, maximum, int)
TILESTEP_ATOMIC(atomicMax, maximum, unsigned)
TILESTEP_ATOMIC(atomicMax, maximum, long long)
TILESTEP_ATOMIC(atomicMax, maximum, unsigned long long)
TILESTEP_ATOMIC(atomicInc, increment, unsigned)
TILESTEP_ATOMIC(atomicDec, decrement, unsigned)
TILESTEP_ATOMIC(atomicAnd, bit_and, int)
TILESTEP_ATOMIC(atomicAnd, bit_and, unsigned)
TILESTEP_ATOMIC(atomicAnd, bit_and, unsigned long long)
TILESTEP_ATOMIC(atomicOr, bit_or, int)
TILESTEP_ATOMIC(atomicOr, bit_or, unsigned)
TILESTEP_ATOMIC(atomicOr, bit_or, unsigned long long)
TILESTEP_ATOMIC(atomicXor, bit_xor, int)
TILESTEP_ATOMIC(atomicXor, bit_xor, unsigned)
TILESTEP_ATOMIC(atomicXor, bit_xor, unsigned long long)

TILESTEP_ATOMIC_CAS(int)
TILESTEP_ATOMIC_CAS(unsigned)
TILESTEP_ATOMIC_CAS(unsigned long long)
TILESTEP_ATOMIC_CAS(unsigned short)

#undef TILESTEP_ATOMIC_CAS
