// The machine: one block at a time, its threads as fibers on one OS thread.
//
// There is no scheduler to return to. Whoever waits picks the next thread that can run and switches to it, so a
// barrier costs one switch a thread. Each OS thread has a machine of its own; fibers never move between machines.
#pragma once

#include "events.h"
#include "fiber.h"
#include "hot.h"
#include "identity.h"
#include "listener.h"
#include "memory.h"

namespace tilestep {

constexpr uint32_t kMaxThreads = 1024, kLanes = 32, kMaxWarps = kMaxThreads / kLanes;
constexpr uint32_t kNobody = 0xffff;
constexpr uint8_t kNoMeeting = 0xff;
constexpr uint32_t kSlotBytes = 16;

enum class ThreadOrder : uint8_t { forward, reverse, random };

// One rendezvous of the lanes named by `mask`. It outlives the meeting itself until every lane that came has read
// the slots, that is, until it comes to its next meeting or exits.
struct Meeting {
  uint32_t mask, arrived, holders;
  bool exchanges;  // values, not only a point in time
  uintptr_t pc;
  alignas(16) unsigned char slots[kLanes][kSlotBytes];
};

struct Warp {
  uint32_t live;  // lanes that exist and have not exited
  uint32_t open;  // meetings that wait for lanes, by index
  uint32_t used;  // meetings that are open or still read
  Meeting meetings[kLanes];  // enough: every one in use is held by another lane
};

struct Plan;

struct Machine {
  // The thread that runs, and how many can still run.
  uint32_t current, live;
  uint32_t arrived;  // at the block's barrier
  uint32_t votes;    // of those arrived at a reducing barrier, how many with a true predicate
  int votes_result, votes_asked;

  // Who can run: threads that a warp meeting has released (last in, first out), then this phase's threads in order,
  // then threads that gave way (first in, first out), and only then those that ask for the warp's convergence.
  uint32_t woken_count, phase_next, phase_end, yielded_first, yielded_count, converging_count;
  const uint16_t* phase;
  uint16_t woken[kMaxThreads], yielded[kMaxThreads], converging[kMaxThreads];

  uint16_t order[kMaxThreads];       // all threads of a block, in the order in which a phase runs them
  uint16_t live_order[kMaxThreads];  // those of them that have not exited
  bool somebody_exited;              // live_order is out of date
  uint8_t lane_order[kMaxWarps][kLanes];  // the same order within each warp

  uint16_t fiber_of[kMaxThreads];  // kNobody before a thread starts
  uint8_t held[kMaxThreads];       // index of the meeting that the thread is in or still reads
  uint32_t converged_mask[kMaxThreads];
  Thread threads[kMaxThreads];
  uint3 thread_index[kMaxThreads];

  Context host;  // where run_block() waits for the block to end
  Fiber fibers[kMaxThreads];
  uint16_t free_fibers[kMaxThreads];
  uint32_t free_fiber_count, fiber_count;
  unsigned char* stacks;

  Block block;
  void (*invoke)(void*);
  void* closure;
  unsigned char* shared;         // kSharedSegment bytes
  uint32_t dynamic_offset;       // of dynamic shared memory in the segment
  uint32_t atomics;              // counted so that a spin on one gives way now and then

  Warp warps[kMaxWarps];
};

extern __thread Machine* machine;  // of this OS thread

// Makes the calling OS thread's machine.
void make_machine();
// Sets it up for blocks of one launch. `order` and `seed` say in which order threads run.
void prepare_machine(Machine& m, const LaunchInfo& launch, void (*invoke)(void*), void* closure, ThreadOrder order,
                     uint64_t seed);
// Runs one block to its end.
void run_block(Machine& m, uint64_t linear, const uint3& index);

// All live threads have arrived at the block's barrier: starts the next phase.
void release_barrier(Machine& m);
// Lets the others run before the current thread goes on.
void yield_thread(Machine& m);
// A lane of `w` has exited, or none can arrive any more: release the meetings that waited only for it.
void release_meetings_without(Machine& m, uint32_t warp);
void leave_meeting(Machine& m, uint32_t thread);
// Nobody can run: lanes that asked for the active mask get the lanes that stand at the same place.
void release_converging(Machine& m);

// --- scheduling, inlined into everything that waits ----------------------------------------------------------------
[[noreturn]] void report_deadlock(Machine& m);
void start_fiber(Machine& m, uint32_t thread);

TILESTEP_INLINE uint32_t next_runnable(Machine& m) {
  for (;;) {
    if (m.woken_count != 0) return m.woken[--m.woken_count];
    if (m.phase_next != m.phase_end) return m.phase[m.phase_next++];
    if (m.yielded_count != 0) {
      const uint32_t thread = m.yielded[m.yielded_first];
      m.yielded_first = (m.yielded_first + 1) % kMaxThreads;
      --m.yielded_count;
      return thread;
    }
    if (m.converging_count == 0) report_deadlock(m);
    release_converging(m);
  }
}

TILESTEP_INLINE void make_current(Machine& m, uint32_t thread) {
  m.current = thread;
  current_thread_idx = m.thread_index[thread];
#ifdef TILESTEP_CHECKED
  hot.stack_low = m.fibers[m.fiber_of[thread]].stack_low;
#endif
}

// The stack of the thread after the next one has most likely left the nearest cache since it last ran.
TILESTEP_INLINE void prefetch_next_stack(const Machine& m) {
  if (m.phase_next == m.phase_end) return;
  const uint32_t fiber = m.fiber_of[m.phase[m.phase_next]];
  if (fiber == kNobody) return;
  const char* stack = static_cast<const char*>(m.fibers[fiber].context.stack);
  __builtin_prefetch(stack);
  __builtin_prefetch(stack + 64);
}

// Runs somebody else until the current thread's turn comes again.
TILESTEP_INLINE void run_others(Machine& m) {
  const uint32_t self = m.current;
  const uint32_t next = next_runnable(m);
  if (next == self) return;
  if (m.fiber_of[next] == kNobody) start_fiber(m, next);
  make_current(m, next);
  prefetch_next_stack(m);
  switch_context(&m.fibers[m.fiber_of[self]].context, &m.fibers[m.fiber_of[next]].context);
}

// Where the caller of the function that uses this was called from: within the call, so that debug lines fit.
#define TILESTEP_CALLER (reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1)

}  // namespace tilestep
