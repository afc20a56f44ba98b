// __syncthreads reached by some threads of a block and not by others, or at different places.
#pragma once

#include "events.h"
#include "report.h"

namespace tilestep {

class Barriers {
 public:
  // Every live thread waits; `threads` has block.threads entries.
  void block_barrier(const Thread* threads, const Block& block) {
    const Thread* first = nullptr;
    const Thread* gone = nullptr;
    const Thread* other = nullptr;
    for (uint32_t i = 0; i < block.threads; ++i) {
      const Thread& thread = threads[i];
      if (thread.done) {
        if (!gone) gone = &thread;
      } else if (!first) {
        first = &thread;
      } else if (thread.barrier_pc != first->barrier_pc && !other) {
        other = &thread;
      }
    }
    if (!first) return;
    if (other) {
      report_at(*first, *other, other->barrier_pc, "different-barriers", block);
    } else if (gone) {
      report_at(*first, *gone, 0, "early-exit", block);
    }
  }

 private:
  static void report_at(const Thread& waiting, const Thread& other, uintptr_t other_pc, const char* detail,
                        const Block& block) {
    report(Finding{"divergent-barrier", nullptr, -1, waiting.barrier_pc, other_pc, waiting.linear, other.linear,
                   block.linear, UINT64_MAX, detail});
  }
};

}  // namespace tilestep
