// Warp collectives: synchronisation, shuffles, votes, matches and integer reductions.
//
// All of them are one rendezvous of the lanes in `mask`, in which every lane publishes a value; what a lane returns
// is then computed from the published slots.
#pragma once

#include <cstring>

#include "abi.h"
#include "hooks.h"

namespace tilestep {

constexpr unsigned kFullWarp = 0xffffffffu;
constexpr unsigned kSlotBytes = 16;

// Reads lane `lane`'s published value. The slots are the machine's, not memory of the kernel.
template <class T>
TILESTEP_UNHOOKED T slot_value(const void* slots, unsigned lane) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), static_cast<const unsigned char*>(slots) + lane * kSlotBytes, sizeof value);
  return value;
}

// One bit a lane: whether it published something else than zero.
TILESTEP_UNHOOKED unsigned slots_ballot(const void* slots, unsigned mask) {
  unsigned ballot = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = unsigned(__builtin_ctz(rest));
    ballot |= unsigned(slot_value<int>(slots, lane) != 0) << lane;
  }
  return ballot;
}

// What a shuffle returns from a lane outside the mask. CUDA leaves it undefined; all bits set is NaN in floating
// point, so that a kernel which uses the value shows it.
template <class T>
TILESTEP_INLINE T undefined_value() {
  T value;
  __builtin_memset(static_cast<void*>(&value), 0xff, sizeof value);
  return value;
}

enum class Shuffle { index, up, down, exclusive_or };

// The lane that `lane` reads. A warp is cut into segments of `width` lanes, a power of two; the last lane of the
// segment bounds index, down and xor, the first one bounds up. Out of bounds, a lane reads itself.
TILESTEP_INLINE unsigned shuffle_source(Shuffle kind, unsigned lane, unsigned delta, unsigned width) {
  const unsigned segment = 32 - width;  // bits of a lane number that name its segment
  const unsigned first = lane & segment;
  const unsigned last = first | (~segment & 31u);
  delta &= 31u;
  switch (kind) {
    case Shuffle::index:
      return first | (delta & ~segment);
    case Shuffle::up:
      return lane < first + delta ? lane : lane - delta;
    case Shuffle::down:
      return lane + delta > last ? lane : lane + delta;
    case Shuffle::exclusive_or:
      return (lane ^ delta) > last ? lane : lane ^ delta;
  }
  return lane;
}

template <class T>
TILESTEP_INLINE T shuffle(unsigned mask, Shuffle kind, T value, unsigned delta, int width) {
  const unsigned lane = tilestep_lane();
  const unsigned source = shuffle_source(kind, lane, delta, unsigned(width));
  const void* slots = tilestep_warp_exchange(mask, &value, sizeof value);
  return (mask >> source & 1u) != 0 ? slot_value<T>(slots, source) : undefined_value<T>();
}

}  // namespace tilestep

// One overload a type, not a template: CUDA promotes char and short and refuses structures.
#define TILESTEP_SHUFFLES(T)                                                                              \
  TILESTEP_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {                       \
    return tilestep::shuffle<T>(mask, tilestep::Shuffle::index, value, unsigned(lane), width);            \
  }                                                                                                       \
  TILESTEP_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {              \
    return tilestep::shuffle<T>(mask, tilestep::Shuffle::up, value, delta, width);                        \
  }                                                                                                       \
  TILESTEP_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {            \
    return tilestep::shuffle<T>(mask, tilestep::Shuffle::down, value, delta, width);                      \
  }                                                                                                       \
  TILESTEP_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {              \
    return tilestep::shuffle<T>(mask, tilestep::Shuffle::exclusive_or, value, unsigned(lane_mask), width);\
  }
TILESTEP_SHUFFLES(int)
TILESTEP_SHUFFLES(unsigned)
TILESTEP_SHUFFLES(long)
TILESTEP_SHUFFLES(unsigned long)
TILESTEP_SHUFFLES(long long)
TILESTEP_SHUFFLES(unsigned long long)
TILESTEP_SHUFFLES(float)
TILESTEP_SHUFFLES(double)

TILESTEP_INLINE void __syncwarp(unsigned mask = tilestep::kFullWarp) { tilestep_warp_sync(mask); }
TILESTEP_INLINE unsigned __activemask() { return tilestep_active_mask(); }

// A lane of `mask` that has exited, or that a partial last warp never had, left a slot of zeros: it votes no.
TILESTEP_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  const int vote = predicate != 0;
  return tilestep::slots_ballot(tilestep_warp_exchange(mask, &vote, sizeof vote), mask);
}
TILESTEP_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
// Asked the other way round, so that an absent lane does not decide: all, if none says no.
TILESTEP_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
