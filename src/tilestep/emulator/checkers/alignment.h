// Accesses whose address is no multiple of their size. A GPU stops the kernel at the first one.
#pragma once

#include "places.h"

namespace tilestep {

class Alignment {
 public:
  static bool is_aligned(uintptr_t address, uint32_t size) {
    // Sizes that are no power of two, or above 16, are ranges: those have no alignment of their own.
    return size > 16 || size & (size - 1) || (address & (size - 1)) == 0;
  }

  // Reports; returns false where the CPU, too, would fault (it has 16-byte accesses that must be aligned).
  bool check(const MemoryEvent& event, const Thread& thread, const Block& block) {
    static const char* const sizes[] = {"2", "4", "8", "16"};
    const int index = event.size == 2 ? 0 : event.size == 4 ? 1 : event.size == 8 ? 2 : 3;
    report(finding_at("misaligned", event, event.address, thread, block, sizes[index]));
    return event.size < 16;
  }
};

}  // namespace tilestep
