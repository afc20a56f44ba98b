// Blocks, their threads, and the block-wide barrier.
#include "machine.h"

#include <string.h>
#include <sys/mman.h>

#include "access.h"
#include "ending.h"
#include "identity.h"
#include "report.h"
#include "result.h"
#include "shared.h"
#include "watch.h"

namespace tilestep {

Mode mode = Mode::fast;
Listener listener;
__thread Machine* machine;
__thread uint3 current_thread_idx, current_block_idx, current_block_dim, current_grid_dim;

void make_machine() {
  if (machine) return;
  void* memory = mmap(nullptr, sizeof(Machine), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("no memory for the machine");
  machine = static_cast<Machine*>(memory);
  machine->stacks = reserve_stacks(kMaxThreads);
  machine->shared = make_shared_segment();
  use_signal_stack();
}

static uint64_t next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t bits = state;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

static void arrange_threads(Machine& m, ThreadOrder order, uint64_t seed) {
  const uint32_t count = m.block.threads;
  for (uint32_t i = 0; i < count; ++i) m.order[i] = uint16_t(order == ThreadOrder::reverse ? count - 1 - i : i);
  if (order == ThreadOrder::random) {
    for (uint32_t i = count - 1; i > 0; --i) {
      const uint32_t other = uint32_t(next_random(seed) % (i + 1));
      const uint16_t swapped = m.order[i];
      m.order[i] = m.order[other];
      m.order[other] = swapped;
    }
  }
  uint8_t filled[kMaxWarps] = {};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t warp = m.order[i] / kLanes;
    m.lane_order[warp][filled[warp]++] = uint8_t(m.order[i] % kLanes);
  }
}

void prepare_machine(Machine& m, const LaunchInfo& launch, void (*invoke)(void*), void* closure, ThreadOrder order,
                     uint64_t seed) {
  const uint3 size = launch.block;
  m.invoke = invoke;
  m.closure = closure;
  m.block.threads = size.x * size.y * size.z;
  m.block.warps = (m.block.threads + kLanes - 1) / kLanes;
  m.dynamic_offset = dynamic_shared_offset(launch.dynamic_shared);
  arrange_threads(m, order, seed);
  for (uint32_t i = 0; i < m.block.threads; ++i) {
    Thread& thread = m.threads[i];
    thread.linear = i;
    thread.warp = i / kLanes;
    thread.lane = i % kLanes;
    thread.index = uint3{i % size.x, i / size.x % size.y, i / size.x / size.y};
    m.thread_index[i] = thread.index;
  }
  current_block_dim = size;
  current_grid_dim = launch.grid;
}

// A thread's first switch lands here, and the fiber never leaves: when one thread has exited it goes on with another
// that has not started, or waits among the free fibers to be used again.
static void fiber_main() {
  Machine& m = *machine;
  for (;;) {
    m.invoke(m.closure);

    const uint32_t self = m.current;
    const uint32_t fiber = m.fiber_of[self];
    Thread& thread = m.threads[self];
    thread.done = true;
    m.somebody_exited = true;
    --m.live;
    m.warps[thread.warp].live &= ~(1u << thread.lane);
    leave_meeting(m, self);
    if (checking()) listener.thread_exit(thread, m.block);
    if (m.live == 0) {
      m.free_fibers[m.free_fiber_count++] = uint16_t(fiber);
      switch_context(&m.fibers[fiber].context, &m.host);
      continue;  // in another block
    }
    if (m.warps[thread.warp].open != 0) release_meetings_without(m, thread.warp);
    if (m.arrived == m.live) release_barrier(m);

    const uint32_t next = next_runnable(m);
    if (m.fiber_of[next] == kNobody) {
      m.fiber_of[next] = uint16_t(fiber);
      make_current(m, next);
      continue;
    }
    m.free_fibers[m.free_fiber_count++] = uint16_t(fiber);
    make_current(m, next);
    switch_context(&m.fibers[fiber].context, &m.fibers[m.fiber_of[next]].context);
  }
}

void start_fiber(Machine& m, uint32_t thread) {
  if (m.free_fiber_count == 0) {
    const uint32_t made = m.fiber_count++;
    make_fiber(m.fibers[made], m.stacks, made, fiber_main);
    m.free_fibers[m.free_fiber_count++] = uint16_t(made);
  }
  m.fiber_of[thread] = m.free_fibers[--m.free_fiber_count];
}

void run_block(Machine& m, uint64_t linear, const uint3& index) {
  m.block.linear = linear;
  m.block.index = index;
  m.block.epoch = 1;
  current_block_idx = index;

  const uint32_t count = m.block.threads;
  m.live = count;
  m.arrived = m.votes = 0;
  m.votes_asked = 0;
  m.woken_count = m.yielded_count = m.converging_count = 0;
  m.phase = m.order;
  m.phase_next = 0;
  m.phase_end = count;
  m.somebody_exited = false;
  memset(m.fiber_of, 0xff, count * sizeof m.fiber_of[0]);
  memset(m.held, kNoMeeting, count);
  for (uint32_t i = 0; i < count; ++i) {
    m.threads[i].done = false;
    m.threads[i].barrier_pc = 0;
  }
  for (uint32_t w = 0; w < m.block.warps; ++w) {
    const uint32_t lanes = count - w * kLanes;
    m.warps[w].live = lanes >= kLanes ? 0xffffffffu : (1u << lanes) - 1;
    m.warps[w].open = m.warps[w].used = 0;
  }
  if (kChecked) poison_shared(m);
  if (checking()) listener.block_begin(m.block);
  if (watching()) watch_block_begin(m);

  const uint32_t first = m.phase[m.phase_next++];
  start_fiber(m, first);
  make_current(m, first);
  switch_context(&m.host, &m.fibers[m.fiber_of[first]].context);

  if (checking()) listener.block_end(m.block);
  if (watching()) watch_block_end(m);
}

void yield_thread(Machine& m) {
  if (m.converging_count != 0) release_converging(m);  // whoever spins may wait for them
  m.yielded[(m.yielded_first + m.yielded_count++) % kMaxThreads] = uint16_t(m.current);
  run_others(m);
}

void release_barrier(Machine& m) {
  if (checking()) {
    listener.block_barrier(m.threads, m.block);
    count_barrier(m);
  }
  if (watching()) watch_barrier(m);
  m.votes_result = m.votes_asked == 1 ? m.votes == m.arrived : int(m.votes);
  m.arrived = m.votes = 0;
  ++m.block.epoch;
  if (m.somebody_exited) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m.block.threads; ++i) {
      if (!m.threads[m.order[i]].done) m.live_order[count++] = m.order[i];
    }
    m.somebody_exited = false;
    m.phase = m.live_order;
  }
  m.phase_next = 0;
  m.phase_end = m.live;
}

void report_deadlock(Machine& m) {
  // The waits, one finding for each place; a few are enough to understand it.
  constexpr int kPlaces = 4;
  uintptr_t seen[kPlaces];
  int places = 0;
  for (uint32_t i = 0; i < m.block.threads && places < kPlaces; ++i) {
    if (m.threads[i].done) continue;
    const bool in_warp = m.held[i] != kNoMeeting && m.warps[i / kLanes].open >> m.held[i] & 1u;
    const uintptr_t pc = in_warp ? m.warps[i / kLanes].meetings[m.held[i]].pc : m.threads[i].barrier_pc;
    bool known = false;
    for (int k = 0; k < places; ++k) known |= seen[k] == pc;
    if (known) continue;
    seen[places++] = pc;
    Finding finding;
    finding.code = "deadlock";
    finding.pc = pc;
    finding.thread = i;
    finding.block = m.block.linear;
    finding.detail = in_warp ? "warp" : "barrier";
    report(finding);
  }
  stop_after_finding(seen[0], 0);
}

}  // namespace tilestep

using namespace tilestep;

extern "C" void tilestep_barrier() {
  Machine& m = *machine;
  m.threads[m.current].barrier_pc = TILESTEP_CALLER;
  if (++m.arrived == m.live) release_barrier(m);
  run_others(m);
}

extern "C" int tilestep_barrier_reduce(int predicate, int operation) {
  Machine& m = *machine;
  m.threads[m.current].barrier_pc = TILESTEP_CALLER;
  m.votes += predicate != 0;
  m.votes_asked = operation;
  if (++m.arrived == m.live) release_barrier(m);
  run_others(m);
  return operation == 0 ? m.votes_result != 0 : m.votes_result;
}
