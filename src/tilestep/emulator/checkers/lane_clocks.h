// Within a phase only the lanes of one warp can be ordered, by the collectives at which they met.
//
// Each lane's accesses carry a stamp: the number of its warp's last meeting that the lane took part in. A lane
// has seen another lane's stamps up to some number: a vector clock of 32 entries. As long as all lanes of a warp
// meet together, one number stands for all of them.
#pragma once

#include <cstdint>
#include <cstring>

#include "shadow_memory.h"

namespace tilestep {

class LaneClocks {
 public:
  static constexpr uint32_t kLastStamp = (1u << 20) - 1;  // what a record of an access can hold

  struct Warp {
    bool together;          // all lanes have met at every meeting of this phase
    uint32_t lanes;         // mask of the lanes that the block has
    uint32_t meetings;
    uint32_t stamp[32];     // only when not together
    uint32_t seen[32][32];  // seen[a][b]: lane a is ordered after what lane b stamped below this
  };

  void block_begin(uint32_t threads) {
    if (!warps_) warps_ = map_shadow<Warp>(32);
    warps_used_ = (threads + 31) / 32;
    for (uint32_t i = 0; i < warps_used_; ++i) {
      const uint32_t lanes = threads - i * 32;
      warps_[i].lanes = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    }
    phase_begin();
  }

  // A barrier of the block orders everything before it; the clocks start anew.
  void phase_begin() {
    for (uint32_t i = 0; i < warps_used_; ++i) {
      warps_[i].together = true;
      warps_[i].meetings = 1;
    }
  }

  void meet(uint32_t index, uint32_t arrived) {
    Warp& warp = warps_[index];
    if (arrived == warp.lanes) {
      advance(warp);
      warp.together = true;
    } else if (arrived & (arrived - 1)) {
      meet_apart(warp, arrived);
    }
    // A lane that meets nobody learns nothing.
  }

  const Warp& warp(uint32_t index) const { return warps_[index]; }

  static uint32_t stamp(const Warp& warp, uint32_t lane) { return warp.together ? warp.meetings : warp.stamp[lane]; }

  // Whether what `lane` did at `stamp` lies before what lane `me` does now. After the last stamp nothing is told apart
  // any more, and everything counts as ordered.
  static bool has_seen(const Warp& warp, uint32_t me, uint32_t lane, uint32_t stamp) {
    return stamp < (warp.together ? warp.meetings : warp.seen[me][lane]) || stamp >= kLastStamp;
  }

 private:
  static void advance(Warp& warp) {
    if (warp.meetings < kLastStamp) ++warp.meetings;
  }

  __attribute__((noinline)) static void meet_apart(Warp& warp, uint32_t arrived) {
    const uint32_t before = warp.meetings;
    advance(warp);
    const uint32_t number = warp.meetings;
    if (warp.together) {
      warp.together = false;
      for (int a = 0; a < 32; ++a) {
        warp.stamp[a] = before;
        for (int b = 0; b < 32; ++b) warp.seen[a][b] = before;
      }
    }
    uint32_t joined[32] = {};
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
      const uint32_t* seen = warp.seen[__builtin_ctz(rest)];
      for (int b = 0; b < 32; ++b) joined[b] = seen[b] > joined[b] ? seen[b] : joined[b];
    }
    for (uint32_t rest = arrived; rest; rest &= rest - 1) joined[__builtin_ctz(rest)] = number;
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      warp.stamp[lane] = number;
      memcpy(warp.seen[lane], joined, sizeof joined);
    }
  }

  Warp* warps_ = nullptr;
  uint32_t warps_used_ = 0;
};

}  // namespace tilestep
