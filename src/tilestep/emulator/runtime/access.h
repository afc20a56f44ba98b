// The path of every hooked access: what it belongs to, and who wants to know. Meant to be short.
#pragma once

#include "ending.h"
#include "hot.h"
#include "listener.h"
#include "machine.h"
#include "traffic.h"
#include "watch.h"

namespace tilestep {

constexpr uint32_t kQuantum = 1024;  // accesses after which a thread gives way, so that spinning ends
constexpr uint32_t kIdleBarriers = 100'000;  // in a row, with no access between: a loop that only waits

// From now on (until the launch ends) this OS thread runs kernels.
void enter_kernel(const Machine& m);
void leave_kernel();
// Counts a quantum, ends an endless loop, and gives way.
void tick(uintptr_t pc);
// The block has passed a barrier: ends a loop of barriers that no access would ever end.
void count_barrier(const Machine& m);
uint64_t accesses_so_far();              // of launches that have ended
void set_access_budget(uint64_t budget);  // of all launches together; 0 is no limit

// Not global and not shared: own stack and constant data are ignored, variables of the module checked, the rest is
// an error that ends the run.
void other_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc);

// The listener's part, out of line so that counting traffic needs no registers saved. One copy a size and kind.
template <uint32_t size, Access kind>
__attribute__((noinline)) void check_access(uintptr_t address, uintptr_t pc) {
  if (__builtin_expect(mode == Mode::watch, 0)) return watch_access(address, size, kind, pc);
  Space space = Space::shared;
  if (address - hot.arena_low < hot.arena_size) {
    space = Space::global;
  } else if (address - hot.shared_low >= hot.shared_size) {
    if (address - hot.stack_low >= kStackBytes) other_access(address, size, kind, pc);
    return;
  }
  const Machine& m = *machine;
  if (!listener.access(MemoryEvent{address, size, kind, space, pc}, m.threads[m.current], m.block)) {
    stop_after_finding(pc, address);
  }
}

template <uint32_t size, Access kind>
TILESTEP_INLINE void on_access(uintptr_t address, uintptr_t pc) {
  if (__builtin_expect(--hot.ticks == 0, 0)) tick(pc);
  if (mode >= Mode::check) return check_access<size, kind>(address, pc);
  if (address - hot.arena_low < hot.arena_size) {
    count_traffic(address, size, kind);
  } else if (address - hot.shared_low >= hot.shared_size && address - hot.stack_low >= kStackBytes) {
    other_access(address, size, kind, pc);
  }
}

// The same where size (1, 2, 4, 8 or 16) and kind are not known beforehand.
void on_access_of(uint32_t size, uintptr_t address, Access kind, uintptr_t pc);
// The same for `bytes` bytes, as a GPU would move them: in the largest aligned pieces of at most 16 bytes.
void on_range(uintptr_t address, size_t bytes, Access kind, uintptr_t pc);

}  // namespace tilestep
