// The launch plan: what the seam asked for, in order, to be done after the seam has returned.
#pragma once

#include "events.h"
#include "machine.h"

namespace tilestep {

struct PlannedLaunch {
  LaunchInfo info;
  void (*invoke)(void*);
  void* closure;
};

// A memset, or a copy from device memory or from a snapshot of host memory.
struct PlannedTransfer {
  unsigned char* to;
  const unsigned char* from;  // nullptr: a memset
  size_t bytes;
  int value;
  bool from_host;
};

struct PlanItem {
  enum class Kind : uint8_t { launch, transfer } kind;
  PlannedLaunch launch;
  PlannedTransfer transfer;
};

struct Execution {
  int threads;  // OS threads
  ThreadOrder order;
  uint64_t seed;
};

void add_to_plan(const PlanItem& item);
uint32_t planned_launches();
size_t planned_items();
void execute_plan(const Execution& execution);

}  // namespace tilestep
