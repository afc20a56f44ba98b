// The path of every hooked access: what it belongs to, and who wants to know. Meant to be short.
#pragma once

#include "ending.h"
#include "hot.h"
#include "listener.h"
#include "machine.h"
#include "traffic.h"

namespace tilestep {

constexpr uint32_t kQuantum = 1024;  // accesses after which a thread gives way, so that spinning ends

// From now on (until the launch ends) this OS thread runs kernels.
void enter_kernel(const Machine& m);
void leave_kernel();
// Counts a quantum, ends an endless loop, and gives way.
void tick(uintptr_t pc);
uint64_t accesses_so_far();              // of launches that have ended
void set_access_budget(uint64_t budget);  // of all launches together; 0 is no limit

// Not global and not shared: own stack and constant data are ignored, variables of the module checked, the rest is
// an error that ends the run.
void other_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc);

TILESTEP_INLINE void on_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc) {
  if (__builtin_expect(--hot.ticks == 0, 0)) tick(pc);
  if (address - hot.arena_low < hot.arena_size) {
    if (mode == Mode::traffic) {
      count_traffic(address, size, kind);
    } else if (!listener.access(MemoryEvent{address, size, kind, Space::global, pc}, machine->threads[machine->current],
                                machine->block)) {
      stop_after_finding(pc, address);
    }
    return;
  }
  if (address - hot.shared_low < hot.shared_size) {
    if (mode == Mode::check &&
        !listener.access(MemoryEvent{address, size, kind, Space::shared, pc}, machine->threads[machine->current],
                         machine->block)) {
      stop_after_finding(pc, address);
    }
    return;
  }
  if (address - hot.stack_low < kStackBytes) return;
  other_access(address, size, kind, pc);
}

// The same for `bytes` bytes, as a GPU would move them: in the largest aligned pieces of at most 16 bytes.
void on_range(uintptr_t address, size_t bytes, Access kind, uintptr_t pc);

}  // namespace tilestep
