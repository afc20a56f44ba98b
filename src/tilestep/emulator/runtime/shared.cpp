#include "shared.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ending.h"
#include "launch_rules.h"
#include "report.h"
#include "reporting.h"
#include "result.h"

namespace tilestep {

constexpr uint32_t kGap = 64;           // between static arrays, so that an overrun lands in no array
constexpr uint32_t kEdge = 1024;        // before the first array and behind dynamic memory
constexpr uint32_t kPlacedAlignment = 16;  // what a GPU's toolchain gives arrays that are then read as float4
constexpr int kMaxArrays = 128;

struct SharedLayout {
  SharedArray arrays[kMaxArrays];
  int count;
  uint32_t static_end;  // of the placed arrays, in the segment
  uint32_t dynamic_begin;
  uint32_t generation;
  LaunchInfo* launch;
};

static SharedLayout layout;
static pthread_mutex_t layout_lock = PTHREAD_MUTEX_INITIALIZER;

static void* map_with_closed_edges(size_t bytes) {
  constexpr size_t edge = 64 * 1024;
  void* memory = mmap(nullptr, bytes + 2 * edge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("no address space for shared memory");
  unsigned char* begin = static_cast<unsigned char*>(memory) + edge;
  if (mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0) give_up("no memory for shared memory");
  return begin;
}

unsigned char* make_shared_segment() { return static_cast<unsigned char*>(map_with_closed_edges(kSharedSegment)); }

uint32_t dynamic_shared_offset(uint32_t dynamic_bytes) {
  return (uint32_t(kSharedSegment) - kEdge - dynamic_bytes) & ~127u;
}

void begin_shared_layout(LaunchInfo& launch) {
  layout.count = 0;
  layout.static_end = kEdge;
  layout.dynamic_begin = dynamic_shared_offset(launch.dynamic_shared);
  layout.launch = &launch;
  ++layout.generation;
  if (launch.dynamic_shared != 0) {
    layout.arrays[layout.count++] =
        SharedArray{"dynamic shared memory", layout.dynamic_begin, layout.dynamic_begin + launch.dynamic_shared, 0};
  }
}

void poison_shared(Machine& m) {
  memset(m.shared + kEdge, 0xff, layout.static_end - kEdge);
  memset(m.shared + layout.dynamic_begin, 0xff, layout.launch->dynamic_shared);
}

static void report_too_much(const SharedSite& site, uint32_t bytes, size_t limit, const char* kind, uintptr_t pc) {
  char detail[96];
  snprintf(detail, sizeof detail, "%u bytes of %s memory a block, at most %zu", bytes, kind, limit);
  Finding finding;
  finding.code = "launch-refused";
  finding.array = site.name;
  finding.pc = pc;
  finding.detail = detail;
  report_at_line(finding, site.line);
}

// Tells, once a launch, that its kernel's static arrays so far and its dynamic memory are too much together.
static void check_sum(const LaunchInfo& launch, uint32_t static_before, uintptr_t pc) {
  char detail[224];
  if (!check_shared(static_before, launch.dynamic_shared, launch.asked_shared, detail, sizeof detail)) return;
  if (check_shared(launch.static_shared, launch.dynamic_shared, launch.asked_shared, detail, sizeof detail)) return;
  Finding finding;
  finding.code = "launch-refused";
  finding.pc = pc;
  finding.detail = detail;
  report_at_line(finding, launch.line);
}

// The launch's layout is locked.
static void place(SharedSite& site, uintptr_t pc) {
  const uint32_t alignment = site.alignment > kPlacedAlignment ? site.alignment : kPlacedAlignment;
  const uint32_t begin = (layout.static_end + kGap + alignment - 1) / alignment * alignment;
  const uint32_t end = begin + site.size;
  LaunchInfo& launch = *layout.launch;
  const uint32_t before = launch.static_shared;
  launch.static_shared += site.size;
  if (before <= kStaticSharedLimit && launch.static_shared > kStaticSharedLimit) {
    report_too_much(site, launch.static_shared, kStaticSharedLimit, "static shared", pc);
  }
  check_sum(launch, before, pc);
  if (site.size > kSharedSegment || end + kGap > layout.dynamic_begin || layout.count == kMaxArrays) {
    char told[224];
    const bool fits = check_shared(launch.static_shared, launch.dynamic_shared, launch.asked_shared, told, sizeof told);
    if (before > kStaticSharedLimit || (launch.static_shared <= kStaticSharedLimit && fits)) {
      report_too_much(site, launch.static_shared, kStaticSharedLimit, "static shared", pc);
    }
    stop_after_finding(pc, 0);
  }
  site.offset = begin;
  layout.arrays[layout.count++] = SharedArray{site.name, begin, end, site.row_bytes};
  layout.static_end = end;
  memset(machine->shared + begin, 0xff, site.size);
  __atomic_store_n(&site.generation, layout.generation, __ATOMIC_RELEASE);
}

uintptr_t shared_begin() { return reinterpret_cast<uintptr_t>(machine->shared); }

int shared_array_count() { return layout.count; }

const SharedArray& shared_array_at(int index) { return layout.arrays[index]; }

const SharedArray* find_shared_array(uint32_t offset) {
  for (int i = 0; i < layout.count; ++i) {
    if (offset >= layout.arrays[i].begin && offset < layout.arrays[i].end) return &layout.arrays[i];
  }
  return nullptr;
}

const SharedArray* nearest_shared_array(uint32_t offset) {
  const SharedArray* nearest = nullptr;
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < layout.count; ++i) {
    const SharedArray& array = layout.arrays[i];
    const uint32_t distance =
        offset < array.begin ? array.begin - offset : offset < array.end ? 0 : offset - array.end + 1;
    if (distance < least) {
      least = distance;
      nearest = &array;
    }
  }
  return nearest;
}

}  // namespace tilestep

using namespace tilestep;

extern "C" void* tilestep_dynamic_shared() { return machine->shared + machine->dynamic_offset; }

// Other OS threads may be at the same declaration; all of them must agree on its place. A block that is running on
// another OS thread meanwhile was poisoned without this array, which it has not reached yet.
extern "C" void* tilestep_static_shared(SharedSite* site) {
  if (__atomic_load_n(&site->generation, __ATOMIC_ACQUIRE) != layout.generation) {
    pthread_mutex_lock(&layout_lock);
    if (site->generation != layout.generation) place(*site, TILESTEP_CALLER);
    pthread_mutex_unlock(&layout_lock);
  }
  return machine->shared + site->offset;
}
