// When an access took place, as far as whole blocks can tell: a phase is what lies between two barriers of one block.
//
// Blocks run one after another here, so phases are numbered in the order in which they run: those of one block are
// neighbours, and so are those of one launch. On a GPU the blocks of a launch run side by side, in no order.
#pragma once

#include <cstdint>

#include "shadow_memory.h"

namespace tilestep {

class Phases {
 public:
  void launch_begin() {
    launch_first_ = ++now_;
    block_first_ = now_;
    blocks_.clear();
  }
  void block_begin(uint64_t block) {
    block_first_ = ++now_;
    blocks_[blocks_.add()] = {now_, block};
  }
  void barrier() { ++now_; }

  uint32_t now() const { return now_; }
  uint32_t block_first() const { return block_first_; }
  uint32_t launch_first() const { return launch_first_; }

  // The block, of the running launch, that a phase belongs to.
  uint64_t block_of(uint32_t phase) const {
    uint32_t low = 0, high = blocks_.size();
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (blocks_[middle].first <= phase ? low : high) = middle;
    }
    return high ? blocks_[low].block : UINT64_MAX;
  }

 private:
  struct Start {
    uint32_t first;
    uint64_t block;
  };
  uint32_t now_ = 0, block_first_ = 0, launch_first_ = 0;
  Pool<Start, 4096> blocks_;
};

}  // namespace tilestep
