// What tiles and coalesced groups share: a set of lanes of one warp, known by its mask.
#pragma once

#include "warp.h"
#include "warp_match.h"

namespace cooperative_groups {

namespace tilestep_details {

// CUDA's tiles shuffle any plain value, in as many 32-bit exchanges as it takes. So do these, with 16 bytes each.
template <class T>
TILESTEP_INLINE T shuffle_any(unsigned mask, T value, unsigned source) {
  if constexpr (sizeof(T) <= tilestep::kSlotBytes) {
    const void* slots = tilestep_warp_exchange(mask, &value, sizeof value);
    return (mask >> source & 1u) != 0 ? tilestep::slot_value<T>(slots, source) : tilestep::undefined_value<T>();
  } else {
    T result;
    const unsigned char* from = reinterpret_cast<const unsigned char*>(&value);
    unsigned char* to = reinterpret_cast<unsigned char*>(&result);
    for (unsigned done = 0; done < sizeof(T); done += tilestep::kSlotBytes) {
      const unsigned rest = sizeof(T) - done;
      const unsigned size = rest < tilestep::kSlotBytes ? rest : tilestep::kSlotBytes;
      struct Piece {
        unsigned char bytes[tilestep::kSlotBytes];
      } piece{};
      __builtin_memcpy(piece.bytes, from + done, size);
      const void* slots = tilestep_warp_exchange(mask, &piece, sizeof piece);
      piece = tilestep::slot_value<Piece>(slots, source);
      __builtin_memcpy(to + done, piece.bytes, size);
    }
    return result;
  }
}

// Lane number of the group's member `rank`.
TILESTEP_INLINE unsigned lane_of_rank(unsigned mask, unsigned rank) {
  for (; rank != 0 && mask != 0; --rank) mask &= mask - 1;
  return mask != 0 ? unsigned(__builtin_ctz(mask)) : 0;
}

// Bits of lanes of the warp as bits of ranks of the group.
TILESTEP_INLINE unsigned by_rank(unsigned mask, unsigned lanes) {
  unsigned ranks = 0, rank = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1, ++rank) {
    ranks |= (lanes >> unsigned(__builtin_ctz(rest)) & 1u) << rank;
  }
  return ranks;
}

}  // namespace tilestep_details

// A group within a warp. Its mask gives the lanes; ranks count them upwards.
class warp_group {
 public:
  TILESTEP_INLINE void sync() const { tilestep_warp_sync(mask_); }
  TILESTEP_INLINE unsigned thread_rank() const {
    return unsigned(__builtin_popcount(mask_ & ((1u << tilestep_lane()) - 1u)));
  }
  TILESTEP_INLINE unsigned size() const { return unsigned(__builtin_popcount(mask_)); }
  TILESTEP_INLINE unsigned num_threads() const { return size(); }

  TILESTEP_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  TILESTEP_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  TILESTEP_INLINE unsigned ballot(int predicate) const {
    return tilestep_details::by_rank(mask_, __ballot_sync(mask_, predicate));
  }
  template <class T>
  TILESTEP_INLINE unsigned match_any(T value) const {
    return tilestep_details::by_rank(mask_, __match_any_sync(mask_, value));
  }
  template <class T>
  TILESTEP_INLINE unsigned match_all(T value, int& all) const {
    return tilestep_details::by_rank(mask_, __match_all_sync(mask_, value, &all));
  }

  TILESTEP_INLINE unsigned tilestep_mask() const { return mask_; }

 protected:
  TILESTEP_INLINE explicit warp_group(unsigned mask) : mask_(mask) {}

  unsigned mask_;
};

}  // namespace cooperative_groups
