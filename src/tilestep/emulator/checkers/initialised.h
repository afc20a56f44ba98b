// Reads of global or shared memory that nobody has written.
#pragma once

#include "byte_states.h"
#include "places.h"

namespace tilestep {

class Initialised {
 public:
  // Looks at a read or an atomic; reports its first byte that is inside an array and was never written.
  void check(const uint8_t* states, const MemoryEvent& event, const Thread& thread, const Block& block) {
    for (uint32_t i = 0; i < event.size; ++i) {
      if ((states[i] & (kInside | kInitialised)) != kInside) continue;
      const bool global = event.space == Space::global;
      report(finding_at(global ? "uninitialised-global" : "uninitialised-shared", event, event.address + i, thread,
                        block, name_of(event.kind)));
      return;
    }
  }

  // A write, or an atomic, initialises what it touches.
  static void mark(uint8_t* states, uint32_t size) {
    for (uint32_t i = 0; i < size; ++i)
      if (states[i] & kInside) states[i] |= kInitialised;
  }
};

}  // namespace tilestep
