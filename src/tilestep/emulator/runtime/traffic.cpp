#include "traffic.h"

#include <pthread.h>
#include <sys/mman.h>

#include "memory.h"
#include "result.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace tilestep {

constexpr int kMaxCounters = 256;  // OS threads
constexpr unsigned kLargestShift = 8;

__thread TrafficCounters traffic;
static TrafficCounters all_counters[kMaxCounters];
static int counters_used;
static unsigned granule_shift = kLargestShift;
static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;

static void must_divide(uint32_t bytes) {
  while (granule_shift > 0 && bytes % (1u << granule_shift) != 0) --granule_shift;
}

void choose_granule() {
  for (int i = 0; i < buffer_count(); ++i) {
    const Buffer& buffer = buffer_at(i);
    if (buffer.range_count == 0) continue;
    must_divide(buffer.row_bytes);
    for (int r = 0; r < buffer.range_count; ++r) {
      must_divide(buffer.ranges[r].begin);
      must_divide(buffer.ranges[r].end);
    }
  }
}

static size_t granules() { return (arena_end() - arena_begin()) >> granule_shift; }

void make_traffic_counters() {
  if (traffic.read) return;
  const size_t count = granules();
  void* memory = mmap(nullptr, 2 * count * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) give_up("no memory for traffic counters");
  traffic.read = static_cast<uint64_t*>(memory);
  traffic.written = traffic.read + count;
  traffic.granule_shift = granule_shift;
  pthread_mutex_lock(&counters_lock);
  if (counters_used == kMaxCounters) give_up("too many threads");
  all_counters[counters_used++] = traffic;
  pthread_mutex_unlock(&counters_lock);
}

struct Sum {
  uint64_t read, written;
};

static Sum bytes_of_granule(size_t granule) {
  Sum sum{};
  for (int t = 0; t < counters_used; ++t) {
    sum.read += all_counters[t].read[granule];
    sum.written += all_counters[t].written[granule];
  }
  return sum;
}

static void write_sum(const char* buffer, const char* range, const Sum& sum) {
  JsonLine("traffic")
      .text("buffer", buffer)
      .text("range", range)
      .number("read", int64_t(sum.read))
      .number("written", int64_t(sum.written))
      .write();
}

void write_traffic() {
  constexpr int kMaxRanges = 16;
  for (int i = 0; i < buffer_count(); ++i) {
    const Buffer& buffer = buffer_at(i);
    Sum of_range[kMaxRanges] = {}, elsewhere{};
    const size_t first = (buffer.begin - arena_begin()) >> granule_shift;
    const size_t bytes = buffer.end - buffer.begin;
    for (size_t offset = 0; offset < bytes; offset += size_t(1) << granule_shift) {
      const Sum sum = bytes_of_granule(first + (offset >> granule_shift));
      if (sum.read == 0 && sum.written == 0) continue;
      Sum* into = &elsewhere;
      for (int r = 0; r < buffer.range_count && r < kMaxRanges; ++r) {
        const size_t column = offset % buffer.row_bytes;
        if (column >= buffer.ranges[r].begin && column < buffer.ranges[r].end) into = &of_range[r];
      }
      into->read += sum.read;
      into->written += sum.written;
    }
    for (int r = 0; r < buffer.range_count && r < kMaxRanges; ++r) {
      write_sum(buffer.name, buffer.ranges[r].name, of_range[r]);
    }
    if (buffer.range_count == 0 || elsewhere.read != 0 || elsewhere.written != 0) write_sum(buffer.name, "", elsewhere);
  }
}

}  // namespace tilestep
