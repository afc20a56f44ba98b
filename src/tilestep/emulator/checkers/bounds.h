// Accesses outside every buffer of global memory, or outside every array of shared memory.
#pragma once

#include "byte_states.h"
#include "places.h"

namespace tilestep {

class Bounds {
 public:
  static bool inside(const uint8_t* states, uint32_t size) { return states_are(states, size, kInside, 0); }

  // Reports the first byte outside of an access that is not all inside. Returns false when it is so far outside that the
  // access must not happen.
  bool check(const uint8_t* states, const MemoryEvent& event, const Thread& thread, const Block& block) {
    uintptr_t address = event.address;
    while (*states++ & kInside) ++address;
    const bool global = event.space == Space::global;
    report(finding_at(global ? "out-of-bounds-global" : "out-of-bounds-shared", event, address, thread, block,
                      name_of(event.kind)));
    return global ? !far_from_every_buffer(address) : true;
  }

 private:
  // Guard bands absorb a near miss. Further out the access would hit nothing of the submission's.
  static bool far_from_every_buffer(uintptr_t address) {
    const Buffer* buffer = nearest_buffer(address);
    if (!buffer) return true;
    const uintptr_t distance = address < buffer->begin ? buffer->begin - address : address - buffer->end;
    return distance >= kGuardBytes;
  }
};

}  // namespace tilestep
