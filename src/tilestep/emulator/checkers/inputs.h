// Writes to memory that a kernel must leave as it is: the seam's inputs, and __constant__ variables.
#pragma once

#include "byte_states.h"
#include "places.h"

namespace tilestep {

class Inputs {
 public:
  // Looks at a write or an atomic; true when it hits an input.
  bool check(const uint8_t* states, const MemoryEvent& event, const Thread& thread, const Block& block) {
    for (uint32_t i = 0; i < event.size; ++i) {
      if (!(states[i] & kReadOnly)) continue;
      report(finding_at("input-written", event, event.address + i, thread, block, name_of(event.kind)));
      return true;
    }
    return false;
  }

  void check_constant(const MemoryEvent& event, const Thread& thread, const Block& block) {
    if (event.kind == Access::read) return;
    report(finding_at("constant-written", event, event.address, thread, block, name_of(event.kind)));
  }
};

}  // namespace tilestep
