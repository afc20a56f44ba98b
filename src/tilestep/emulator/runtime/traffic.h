// Bytes of global memory that kernels load and store.
//
// A run counts them for every granule of the arena; what belongs to which buffer and column range is worked out
// once, at the end. The granule is the largest that divides every row and every range.
#pragma once

#include "events.h"
#include "hot.h"

namespace tilestep {

struct TrafficCounters {
  uint64_t *read, *written;  // one a granule; of this OS thread
  unsigned granule_shift;
};

extern __thread TrafficCounters traffic;

// Once, when all buffers with ranges are there.
void choose_granule();
// For this OS thread, once.
void make_traffic_counters();
// Adds up all threads' counters and writes the result's traffic lines.
void write_traffic();

TILESTEP_INLINE void count_traffic(uintptr_t address, uint32_t size, Access kind) {
  const uintptr_t granule = (address - hot.arena_low) >> traffic.granule_shift;
  if (kind != Access::write) traffic.read[granule] += size;
  if (kind != Access::read) traffic.written[granule] += size;
}

}  // namespace tilestep
