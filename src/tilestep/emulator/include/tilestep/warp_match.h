// Collectives that compare or combine a whole warp's values: __match_*_sync and __reduce_*_sync.
#pragma once

#include "warp.h"

namespace tilestep {

// A value beside a mark that it was published: a lane that has exited leaves zeros, which could pass for a value.
template <class T>
struct Published {
  T value;
  int present;
};

template <class T>
TILESTEP_UNHOOKED Published<T> published(const void* slots, unsigned lane) {
  static_assert(sizeof(Published<T>) <= kSlotBytes, "a lane publishes at most 12 bytes and the mark");
  Published<T> slot;
  __builtin_memcpy(static_cast<void*>(&slot), static_cast<const unsigned char*>(slots) + lane * kSlotBytes, sizeof slot);
  return slot;
}

template <class T>
TILESTEP_INLINE const void* publish(unsigned mask, T value) {
  const Published<T> slot{value, 1};
  return tilestep_warp_exchange(mask, &slot, sizeof slot);
}

// The lanes of `mask` that have a value of the same bits, and those that have any.
template <class T>
TILESTEP_UNHOOKED unsigned lanes_with_value(const void* slots, unsigned mask, T value, unsigned* present) {
  unsigned same = 0;
  *present = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = unsigned(__builtin_ctz(rest));
    const unsigned char* slot = static_cast<const unsigned char*>(slots) + lane * kSlotBytes;
    int mark;
    __builtin_memcpy(static_cast<void*>(&mark), slot + offsetof(Published<T>, present), sizeof mark);
    if (mark == 0) continue;
    *present |= 1u << lane;
    same |= unsigned(__builtin_memcmp(slot, &value, sizeof value) == 0) << lane;
  }
  return same;
}

// All values that the lanes of `mask` published, combined in the order of the lanes.
template <class T, class Combine>
TILESTEP_INLINE T combine_lanes(unsigned mask, T value, Combine combine) {
  const void* slots = publish(mask, value);
  T result = value;
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const Published<T> slot = published<T>(slots, unsigned(__builtin_ctz(rest)));
    if (slot.present == 0) continue;
    result = first ? slot.value : T(combine(result, slot.value));
    first = false;
  }
  return result;
}

}  // namespace tilestep

#define TILESTEP_MATCH(T)                                                                                        \
  TILESTEP_INLINE unsigned __match_any_sync(unsigned mask, T value) {                                            \
    unsigned present;                                                                                            \
    return tilestep::lanes_with_value<T>(tilestep::publish<T>(mask, value), mask, value, &present);              \
  }                                                                                                              \
  TILESTEP_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all) {                                  \
    unsigned present;                                                                                            \
    *all = tilestep::lanes_with_value<T>(tilestep::publish<T>(mask, value), mask, value, &present) == present;   \
    return *all != 0 ? present : 0u;                                                                             \
  }
TILESTEP_MATCH(int)
TILESTEP_MATCH(unsigned)
TILESTEP_MATCH(long)
TILESTEP_MATCH(unsigned long)
TILESTEP_MATCH(long long)
TILESTEP_MATCH(unsigned long long)
TILESTEP_MATCH(float)
TILESTEP_MATCH(double)
#undef TILESTEP_MATCH

#define TILESTEP_REDUCE(name, T, expression)                                                    \
  TILESTEP_INLINE T name(unsigned mask, T value) {                                              \
    return tilestep::combine_lanes<T>(mask, value, [](T a, T b) { return expression; });        \
  }
TILESTEP_REDUCE(__reduce_add_sync, unsigned, a + b)
TILESTEP_REDUCE(__reduce_add_sync, int, int(unsigned(a) + unsigned(b)))
TILESTEP_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
TILESTEP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
TILESTEP_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
TILESTEP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
TILESTEP_REDUCE(__reduce_and_sync, unsigned, a & b)
TILESTEP_REDUCE(__reduce_or_sync, unsigned, a | b)
TILESTEP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef TILESTEP_REDUCE
