// Atomic read-modify-writes: CUDA's, one call for all of them, and those that a compiler hooks.
#include <string.h>

#include "access.h"
#include "narrow_floats.h"

namespace tilestep {

// A waiter that spins on an atomic must let the others run, or it would spin for ever.
constexpr uint32_t kAtomicsBeforeYield = 256;

static uint32_t size_of(AtomicType type) {
  switch (type) {
    case AtomicType::i64:
    case AtomicType::u64:
    case AtomicType::f64:
      return 8;
    case AtomicType::f16:
    case AtomicType::bf16:
    case AtomicType::u16:
      return 2;
    default:
      return 4;
  }
}

template <class T>
static T from_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
static uint64_t to_bits(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
static uint64_t combine_numbers(AtomicOp op, uint64_t old_bits, uint64_t operand_bits) {
  const T old = from_bits<T>(old_bits), operand = from_bits<T>(operand_bits);
  switch (op) {
    case AtomicOp::add:
      return to_bits<T>(T(old + operand));
    case AtomicOp::sub:
      return to_bits<T>(T(old - operand));
    case AtomicOp::minimum:
      return operand < old ? operand_bits : old_bits;
    case AtomicOp::maximum:
      return old < operand ? operand_bits : old_bits;
    case AtomicOp::increment:
      return to_bits<T>(old >= operand ? T(0) : T(old + T(1)));
    case AtomicOp::decrement:
      return to_bits<T>(old == T(0) || old > operand ? operand : T(old - T(1)));
    default:
      return operand_bits;
  }
}

template <float (*widen)(uint16_t), uint16_t (*narrow)(float)>
static uint64_t combine_narrow(AtomicOp op, uint64_t old, uint64_t operand) {
  const float a = widen(uint16_t(old)), b = widen(uint16_t(operand));
  return narrow(from_bits<float>(combine_numbers<float>(op, to_bits(a), to_bits(b))));
}

template <float (*widen)(uint16_t), uint16_t (*narrow)(float)>
static uint64_t combine_pair(AtomicOp op, uint64_t old, uint64_t operand) {
  const uint64_t high = combine_narrow<widen, narrow>(op, old >> 16 & 0xffff, operand >> 16 & 0xffff);
  return high << 16 | combine_narrow<widen, narrow>(op, old & 0xffff, operand & 0xffff);
}

static uint64_t combine(AtomicOp op, AtomicType type, uint64_t old, uint64_t operand, uint64_t compare) {
  switch (op) {
    case AtomicOp::exchange:
      return operand;
    case AtomicOp::bit_and:
      return old & operand;
    case AtomicOp::bit_or:
      return old | operand;
    case AtomicOp::bit_xor:
      return old ^ operand;
    case AtomicOp::compare_and_swap:
      return old == compare ? operand : old;
    default:
      break;
  }
  switch (type) {
    case AtomicType::i32:
      // Overflow wraps on a GPU.
      return op == AtomicOp::minimum || op == AtomicOp::maximum ? combine_numbers<int32_t>(op, old, operand)
                                                                : combine_numbers<uint32_t>(op, old, operand);
    case AtomicType::i64:
      return op == AtomicOp::minimum || op == AtomicOp::maximum ? combine_numbers<int64_t>(op, old, operand)
                                                                : combine_numbers<uint64_t>(op, old, operand);
    case AtomicType::u32:
      return combine_numbers<uint32_t>(op, old, operand);
    case AtomicType::u64:
      return combine_numbers<uint64_t>(op, old, operand);
    case AtomicType::u16:
      return combine_numbers<uint16_t>(op, old, operand);
    case AtomicType::f32:
      return combine_numbers<float>(op, old, operand);
    case AtomicType::f64:
      return combine_numbers<double>(op, old, operand);
    case AtomicType::f16:
      return combine_narrow<half_to_float, float_to_half>(op, old, operand);
    case AtomicType::bf16:
      return combine_narrow<bfloat16_to_float, float_to_bfloat16>(op, old, operand);
    case AtomicType::f16x2:
      return combine_pair<half_to_float, float_to_half>(op, old, operand);
    case AtomicType::bf16x2:
      return combine_pair<bfloat16_to_float, float_to_bfloat16>(op, old, operand);
  }
  return operand;
}

// Blocks may run on several OS threads, so it is a real atomic here too.
template <class Word>
static uint64_t update(void* address, AtomicOp op, AtomicType type, uint64_t operand, uint64_t compare) {
  Word* word = static_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    const Word next = Word(combine(op, type, old, operand, compare));
    if (__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
  }
}

static void give_way_now_and_then() {
  if (!machine) return;
  if (++machine->atomics % kAtomicsBeforeYield == 0) yield_thread(*machine);
}

// A hooked atomic, before it happens.
static void on_atomic(const volatile void* address, uint32_t size, uintptr_t pc) {
  if (!hot.in_kernel) return;
  on_access_of(size, reinterpret_cast<uintptr_t>(address), Access::atomic, pc);
  give_way_now_and_then();
}

}  // namespace tilestep

using namespace tilestep;

extern "C" uint64_t tilestep_atomic(void* address, int op, int type, uint64_t operand, uint64_t compare) {
  const AtomicType t = AtomicType(type);
  const uint32_t size = size_of(t);
  if (kChecked) {
    on_atomic(address, size, TILESTEP_CALLER);
  } else {
    give_way_now_and_then();
  }
  if (size == 8) return update<uint64_t>(address, AtomicOp(op), t, operand, compare);
  if (size == 2) return update<uint16_t>(address, AtomicOp(op), t, operand, compare);
  return update<uint32_t>(address, AtomicOp(op), t, operand, compare);
}

extern "C" {

void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (checking() && hot.in_kernel) listener.fence(machine->threads[machine->current], machine->block);
}
void __tsan_atomic_signal_fence(int) {}

#define TILESTEP_FETCH(bits, word, name)                                                          \
  word __tsan_atomic##bits##_fetch_##name(volatile word* a, word value, int) {                    \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    return __atomic_fetch_##name(a, value, __ATOMIC_SEQ_CST);                                     \
  }

#define TILESTEP_ATOMIC_HOOKS(bits, word)                                                         \
  word __tsan_atomic##bits##_load(const volatile word* a, int) {                                  \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile word* a, word value, int) {                           \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  word __tsan_atomic##bits##_exchange(volatile word* a, word value, int) {                        \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile word* a, word* expected, word value, int, int) { \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    return __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile word* a, word* expected, word value, int, int) { \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    return __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                               \
  word __tsan_atomic##bits##_compare_exchange_val(volatile word* a, word expected, word value, int, int) { \
    on_atomic(a, sizeof(word), TILESTEP_CALLER);                                  \
    __atomic_compare_exchange_n(a, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    return expected;                                                                              \
  }                                                                                               \
  TILESTEP_FETCH(bits, word, add)                                                                 \
  TILESTEP_FETCH(bits, word, sub)                                                                 \
  TILESTEP_FETCH(bits, word, and)                                                                 \
  TILESTEP_FETCH(bits, word, or)                                                                  \
  TILESTEP_FETCH(bits, word, xor)                                                                 \
  TILESTEP_FETCH(bits, word, nand)

// 16-byte atomics do not exist in CUDA C++ below sm_90 and are not emulated: a use of one fails to link, by name.
TILESTEP_ATOMIC_HOOKS(8, uint8_t)
TILESTEP_ATOMIC_HOOKS(16, uint16_t)
TILESTEP_ATOMIC_HOOKS(32, uint32_t)
TILESTEP_ATOMIC_HOOKS(64, uint64_t)

}  // extern "C"
