// cooperative_groups::reduce: combines a value over a tile or a coalesced group; every member gets the result.
#pragma once

#include "groups.h"

namespace cooperative_groups {

#define TILESTEP_OPERATOR(name, expression)        \
  template <class T>                               \
  struct name {                                    \
    TILESTEP_INLINE T operator()(const T& a, const T& b) const { return expression; } \
  };
TILESTEP_OPERATOR(plus, a + b)
TILESTEP_OPERATOR(less, b < a ? b : a)
TILESTEP_OPERATOR(greater, a < b ? b : a)
TILESTEP_OPERATOR(bit_and, a & b)
TILESTEP_OPERATOR(bit_or, a | b)
TILESTEP_OPERATOR(bit_xor, a ^ b)
#undef TILESTEP_OPERATOR

// In the order of a butterfly, as a GPU adds: lane and lane + 16 first.
template <unsigned Size, class Parent, class T, class Operator>
TILESTEP_INLINE T reduce(const thread_block_tile<Size, Parent>& group, T value, Operator combine) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2) value = combine(value, group.shfl_xor(value, distance));
  return value;
}

template <class T, class Operator>
TILESTEP_INLINE T reduce(const coalesced_group& group, T value, Operator combine) {
  const unsigned mask = group.tilestep_mask();
  T result = value;
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const T other = tilestep_details::shuffle_any(mask, value, unsigned(__builtin_ctz(rest)));
    result = first ? other : combine(result, other);
    first = false;
  }
  return result;
}

}  // namespace cooperative_groups
