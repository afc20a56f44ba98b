// Masks of warp collectives that name the wrong lanes.
#pragma once

#include "events.h"
#include "report.h"

namespace tilestep {

class ShuffleMasks {
 public:
  // Every lane that calls a collective must name itself.
  void mask_without_caller(const Thread& thread, uint32_t mask, uintptr_t pc, const Block& block) {
    report(Finding{"shuffle-mask", nullptr, static_cast<int64_t>(mask), pc, 0, thread.linear, UINT32_MAX, block.linear,
                   UINT64_MAX, "caller-not-named"});
  }

  // Values were exchanged under a mask that names lanes which had exited: what they would have given is undefined.
  // Lanes that the block never had (its last warp is partial) are let pass: every reduction over a partial warp names them.
  void exchange_without(uint32_t warp, uint32_t exited, uintptr_t pc, const Block& block) {
    const uint32_t first = warp * 32;
    const uint32_t lanes = block.threads - first;
    if (lanes < 32) exited &= (1u << lanes) - 1;
    if (!exited) return;
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(exited));
    report(Finding{"shuffle-mask", nullptr, -1, pc, 0, UINT32_MAX, first + lane, block.linear, UINT64_MAX,
                   "exited-lane"});
  }
};

}  // namespace tilestep
