#include "access.h"

#include "arena.h"
#include "reporting.h"
#include "variables.h"

namespace tilestep {

__thread Hot hot;

static uint64_t accesses_done;  // of all OS threads, in whole quanta while kernels run
static uint64_t access_budget;

void set_access_budget(uint64_t budget) { access_budget = budget; }

uint64_t accesses_so_far() { return __atomic_load_n(&accesses_done, __ATOMIC_RELAXED); }

void enter_kernel(const Machine& m) {
  hot.arena_low = arena_begin();
  hot.arena_size = arena_end() - arena_begin();
  hot.shared_low = reinterpret_cast<uintptr_t>(m.shared);
  hot.shared_size = kSharedSegment;
  hot.ticks = kQuantum;
  hot.in_kernel = true;
}

void leave_kernel() {
  __atomic_add_fetch(&accesses_done, kQuantum - hot.ticks, __ATOMIC_RELAXED);
  hot = Hot{};
}

static Finding finding_here(const char* code, uintptr_t pc) {
  Finding finding;
  finding.code = code;
  finding.pc = pc;
  finding.thread = machine->current;
  finding.block = machine->block.linear;
  return finding;
}

void tick(uintptr_t pc) {
  if (!hot.in_kernel) return;
  hot.ticks = kQuantum;
  const uint64_t done = __atomic_add_fetch(&accesses_done, kQuantum, __ATOMIC_RELAXED);
  if (access_budget != 0 && done >= access_budget) {
    report(finding_here("endless-loop", pc));
    stop_after_finding(pc, 0);
  }
  yield_thread(*machine);
}

void count_barrier(const Machine& m) {
  static uint64_t accesses_before;
  static uint32_t idle;  // barriers since a thread last touched memory
  const uint64_t accesses = accesses_so_far() + (kQuantum - hot.ticks);
  if (accesses != accesses_before) idle = 0;
  accesses_before = accesses;
  if (access_budget == 0 || ++idle < kIdleBarriers) return;
  const uintptr_t pc = m.threads[m.current].barrier_pc;
  Finding finding = finding_here("endless-loop", pc);
  finding.detail = "barriers";
  report(finding);
  stop_after_finding(pc, 0);
}

static bool is_identity(uintptr_t address) {
  const uint3* names[] = {&current_thread_idx, &current_block_idx, &current_block_dim, &current_grid_dim};
  for (const uint3* name : names) {
    if (address - reinterpret_cast<uintptr_t>(name) < sizeof *name) return true;
  }
  return false;
}

static const char* kind_of_bad_pointer(uintptr_t address) {
  if (address < 64 * 1024) return "null pointer";
  if (address - reinterpret_cast<uintptr_t>(machine->stacks) < kMaxThreads * kStackStride) {
    return "another thread's local variable";
  }
  return "host memory";
}

void other_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc) {
  if (!hot.in_kernel) return;
  if (const DeviceVariable* variable = find_variable(address)) {
    const Space space = variable->constant ? Space::constant : Space::variable;
    if (mode == Mode::check && !listener.access(MemoryEvent{address, size, kind, space, pc},
                                                machine->threads[machine->current], machine->block)) {
      stop_after_finding(pc, address);
    }
    return;
  }
  if (is_module_data(address) || is_identity(address)) return;
  if (address - reinterpret_cast<uintptr_t>(machine) < sizeof(Machine)) return;  // slots of an exchange
  Finding finding = finding_here("bad-pointer", pc);
  if (is_near_arena(address)) {
    finding.code = "out-of-bounds-global";
    const Buffer* nearest = nearest_buffer(address);
    finding.array = nearest ? nearest->name : nullptr;
    finding.element = nearest ? int64_t(address) - int64_t(nearest->begin) : -1;
    finding.detail = kind == Access::read ? "read" : kind == Access::write ? "write" : "atomic";
  } else {
    finding.detail = kind_of_bad_pointer(address);
  }
  report(finding);
  stop_after_finding(pc, address);
}

template <uint32_t size>
static void on_access_as(uintptr_t address, Access kind, uintptr_t pc) {
  if (kind == Access::read) return on_access<size, Access::read>(address, pc);
  if (kind == Access::write) return on_access<size, Access::write>(address, pc);
  on_access<size, Access::atomic>(address, pc);
}

void on_access_of(uint32_t size, uintptr_t address, Access kind, uintptr_t pc) {
  switch (size) {
    case 1:
      return on_access_as<1>(address, kind, pc);
    case 2:
      return on_access_as<2>(address, kind, pc);
    case 4:
      return on_access_as<4>(address, kind, pc);
    case 8:
      return on_access_as<8>(address, kind, pc);
    default:
      return on_access_as<16>(address, kind, pc);
  }
}

void on_range(uintptr_t address, size_t bytes, Access kind, uintptr_t pc) {
  while (bytes > 0) {
    uint32_t piece = 16;
    while (address % piece != 0 || piece > bytes) piece /= 2;
    on_access_of(piece, address, kind, pc);
    address += piece;
    bytes -= piece;
  }
}

}  // namespace tilestep
