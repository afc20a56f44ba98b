// Looking on: what the blocks that write one piece of a buffer do to their shared arrays, and how much work each
// launch is, counted in memory accesses. One OS thread; nothing is checked.
//
// Which block writes a place is found out, not computed from block indices: every block's shared writes are logged,
// and those of a block are kept if one of its threads has written into the watched piece.
#pragma once

#include "events.h"
#include "machine.h"

namespace tilestep {

// The watched piece is bytes [begin, end) of `buffer`; nullptr for none. About `sample` blocks of a launch are run,
// evenly spaced; 0: all.
struct WatchOrder {
  const char* buffer;
  uint64_t begin, end;
  uint64_t sample;
};

void begin_watching(const WatchOrder& order);
void watch_launch(const LaunchInfo& launch);
bool watch_skips(uint64_t place_in_order);
void watch_block_begin(Machine& m);
void watch_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc);
void watch_barrier(Machine& m);
void watch_block_end(Machine& m);
void watch_launch_end(const LaunchInfo& launch);
// Closes the log (watch.bin).
void end_watching();

TILESTEP_INLINE bool watching() { return kChecked && mode == Mode::watch; }

}  // namespace tilestep
