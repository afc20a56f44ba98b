// What an access is held against first, kept together because every access needs it.
#pragma once

#include <cstdint>

namespace tilestep {

// All zero while host code runs on this OS thread: then nothing matches.
struct Hot {
  uintptr_t arena_low, arena_size;
  uintptr_t shared_low, shared_size;
  uintptr_t stack_low;  // of the running fiber
  uint32_t ticks;       // accesses left until tick()
  bool in_kernel;
};

extern __thread Hot hot;

}  // namespace tilestep
