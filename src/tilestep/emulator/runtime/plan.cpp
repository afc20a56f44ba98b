// Executing the plan: its items one after another, the blocks of a launch over the OS threads.
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "reporting.h"
#include "result.h"
#include "shared.h"
#include "team.h"
#include "watch.h"

namespace tilestep {

static PlanItem* items;
static size_t item_count, item_room;
static uint32_t launch_count;

void add_to_plan(const PlanItem& item) {
  if (item_count == item_room) {
    item_room = item_room == 0 ? 16 : 2 * item_room;
    items = static_cast<PlanItem*>(realloc(static_cast<void*>(items), item_room * sizeof(PlanItem)));
    if (!items) give_up("no memory for the launch plan");
  }
  items[item_count++] = item;
  launch_count += item.kind == PlanItem::Kind::launch;
}

uint32_t planned_launches() { return launch_count; }
size_t planned_items() { return item_count; }

// The order of blocks: ascending, descending, or ascending by a step that meets every block once, from a random start.
struct BlockOrder {
  uint64_t count, first, step;

  uint64_t at(uint64_t i) const { return (first + i % count * step) % count; }
};

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static BlockOrder choose_block_order(uint64_t count, const Execution& execution) {
  if (execution.order == ThreadOrder::reverse) return BlockOrder{count, count - 1, count - 1};
  if (execution.order == ThreadOrder::forward || count >> 31 != 0) return BlockOrder{count, 0, 1};
  uint64_t step = count * 3 / 5 + execution.seed % 97 % count;
  if (step == 0) step = 1;
  while (common_divisor(step, count) != 1) ++step;
  return BlockOrder{count, execution.seed % count, step};
}

// One launch, while OS threads take blocks from it.
struct Running {
  const PlannedLaunch* launch;
  const Execution* execution;
  BlockOrder order;
  uint64_t next_block;  // in the order; taken atomically
  uint64_t chunk;
};

static void run_blocks(void* argument) {
  Running& running = *static_cast<Running*>(argument);
  make_machine();
  Machine& m = *machine;
  const PlannedLaunch& launch = *running.launch;
  prepare_machine(m, launch.info, launch.invoke, launch.closure, running.execution->order, running.execution->seed);
  if (kChecked && mode == Mode::traffic) make_traffic_counters();
  if (kChecked) enter_kernel(m);
  for (;;) {
    const uint64_t begin = __atomic_fetch_add(&running.next_block, running.chunk, __ATOMIC_RELAXED);
    if (begin >= running.order.count) break;
    const uint64_t rest = running.order.count - begin;
    const uint64_t end = begin + (rest < running.chunk ? rest : running.chunk);
    for (uint64_t i = begin; i < end; ++i) {
      if (watching() && watch_skips(i)) continue;
      const uint64_t block = running.order.at(i);
      run_block(m, block, block_index_of(block));
    }
  }
  if (kChecked) leave_kernel();
}

static void execute_launch(PlannedLaunch& launch, const Execution& execution) {
  set_running_launch(&launch.info);
  begin_shared_layout(launch.info);
  if (checking()) listener.launch_begin(launch.info);
  if (watching()) watch_launch(launch.info);

  const uint3 grid = launch.info.grid;
  Running running{};
  running.launch = &launch;
  running.execution = &execution;
  running.order = choose_block_order(uint64_t(grid.x) * grid.y * grid.z, execution);
  int helpers = mode >= Mode::check ? 0 : execution.threads - 1;
  if (uint64_t(helpers) >= running.order.count) helpers = int(running.order.count) - 1;
  // Chunks small enough that no OS thread is left with the longest blocks alone.
  running.chunk = running.order.count / (uint64_t(helpers + 1) * 64);
  if (running.chunk == 0) running.chunk = 1;

  run_on_team(helpers, run_blocks, &running);

  if (checking()) listener.launch_end(launch.info);
  if (watching()) watch_launch_end(launch.info);
  set_running_launch(nullptr);
}

static void count_transfer(const PlannedTransfer& transfer) {
  make_traffic_counters();
  hot.arena_low = arena_begin();
  const size_t granule = size_t(1) << traffic.granule_shift;
  for (size_t done = 0; done < transfer.bytes;) {
    const uintptr_t to = reinterpret_cast<uintptr_t>(transfer.to) + done;
    const uintptr_t from = reinterpret_cast<uintptr_t>(transfer.from) + done;
    size_t piece = transfer.bytes - done;
    if (piece > granule - to % granule) piece = granule - to % granule;
    if (transfer.from && piece > granule - from % granule) piece = granule - from % granule;
    if (to - arena_begin() < arena_end() - arena_begin()) count_traffic(to, uint32_t(piece), Access::write);
    if (transfer.from && from - arena_begin() < arena_end() - arena_begin()) {
      count_traffic(from, uint32_t(piece), Access::read);
    }
    done += piece;
  }
  hot.arena_low = 0;
}

static void execute_transfer(const PlannedTransfer& transfer) {
  if (transfer.from) memmove(transfer.to, transfer.from, transfer.bytes);
  else memset(transfer.to, transfer.value, transfer.bytes);
  if (checking()) listener.memory_written(reinterpret_cast<uintptr_t>(transfer.to), transfer.bytes);
  if (kChecked && mode == Mode::traffic) count_transfer(transfer);
}

void execute_plan(const Execution& execution) {
  for (size_t i = 0; i < item_count; ++i) {
    if (items[i].kind == PlanItem::Kind::launch) execute_launch(items[i].launch, execution);
    else execute_transfer(items[i].transfer);
  }
  if (checking()) listener.run_end();
}

}  // namespace tilestep
