// Stands in for the machine: memory with known buffers, a record of what is reported, and events by hand.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "checkers.h"

namespace fake {

using tilestep::Access;
using tilestep::Space;

alignas(4096) inline unsigned char arena[1 << 16];
alignas(4096) inline unsigned char segment[tilestep::kSharedSegment];
alignas(16) inline int counter[4];
alignas(16) inline float table[8];

inline uintptr_t at(size_t offset) { return reinterpret_cast<uintptr_t>(arena) + offset; }
inline uintptr_t shared_at(size_t offset) { return reinterpret_cast<uintptr_t>(segment) + offset; }

constexpr size_t kIn = 4096, kOut = 16384, kScratch = 32768, kBytes = 1024;  // three buffers and their size
inline std::vector<tilestep::Buffer> buffers;
inline std::vector<tilestep::SharedArray> arrays;
inline tilestep::DeviceVariable counter_variable{"counter", 1, counter, sizeof counter, false, nullptr};
inline tilestep::DeviceVariable table_variable{"table", 2, table, sizeof table, true, nullptr};

struct Report {
  std::string code, array, detail;
  int64_t element;
  uintptr_t pc, other_pc;
  uint32_t thread, other_thread;
  uint64_t block, other_block;
};
inline std::vector<Report> reports;

inline int failures = 0;
inline void expect(bool truth, int line, const char* what) {
  if (truth) return;
  ++failures;
  printf("line %d: not true: %s\n", line, what);
  for (const Report& r : reports)
    printf("  reported %s %s[%lld] %s thread %u and %u\n", r.code.c_str(), r.array.c_str(),
           static_cast<long long>(r.element), r.detail.c_str(), r.thread, r.other_thread);
}

// Drives a Checkers as the machine would.
class Play {
 public:
  Play() {
    reports.clear();
    buffers = {{"in", at(kIn), at(kIn + kBytes), true, true, 256, nullptr, 0},
               {"out", at(kOut), at(kOut + kBytes), false, false, 256, nullptr, 0},
               {"scratch 1", at(kScratch), at(kScratch + kBytes), false, false, 256, nullptr, 0}};
    arrays = {{"tile", 0, 512}, {"sums", 576, 704}};
  }
  // The reports are gone with each new block, so that a test states what it expects of each.
  void launch() {
    tilestep::LaunchInfo info{};
    checkers.launch_begin(info);
    next_block = 0;
  }
  void start_block(uint32_t count) {
    threads.assign(count, tilestep::Thread{});
    for (uint32_t i = 0; i < count; ++i) {
      threads[i].linear = i;
      threads[i].warp = i / 32;
      threads[i].lane = i % 32;
    }
    block = {next_block++, {}, count, (count + 31) / 32, 1};
    checkers.block_begin(block);
  }
  bool access(uint32_t thread, Access kind, uintptr_t address, uint32_t size, Space space, uintptr_t pc) {
    return checkers.access({address, size, kind, space, pc}, threads[thread], block);
  }
  bool read(uint32_t thread, uintptr_t address, uint32_t size = 4, uintptr_t pc = 100) {
    return access(thread, Access::read, address, size, space_of(address), pc);
  }
  bool write(uint32_t thread, uintptr_t address, uint32_t size = 4, uintptr_t pc = 200) {
    return access(thread, Access::write, address, size, space_of(address), pc);
  }
  bool atomic(uint32_t thread, uintptr_t address, uint32_t size = 4, uintptr_t pc = 300) {
    return access(thread, Access::atomic, address, size, space_of(address), pc);
  }
  void barrier(uintptr_t pc = 900) {
    for (tilestep::Thread& thread : threads)
      if (!thread.done) thread.barrier_pc = pc;
    checkers.block_barrier(threads.data(), block);
    ++block.epoch;
  }
  void meet(uint32_t warp, uint32_t mask) { checkers.warp_rendezvous(warp, mask, mask, 901, block); }

  tilestep::Checkers& checkers = *new tilestep::Checkers;  // never freed, as in the machine
  std::vector<tilestep::Thread> threads;
  tilestep::Block block{};
  uint64_t next_block = 0;

 private:
  static Space space_of(uintptr_t address) {
    if (address - reinterpret_cast<uintptr_t>(arena) < sizeof arena) return Space::global;
    if (address - reinterpret_cast<uintptr_t>(segment) < sizeof segment) return Space::shared;
    return address - reinterpret_cast<uintptr_t>(table) < sizeof table ? Space::constant : Space::variable;
  }
};

}  // namespace fake

#define EXPECT(truth) fake::expect((truth), __LINE__, #truth)

namespace tilestep {

void report(const Finding& f) {
  fake::reports.push_back({f.code, f.array ? f.array : "", f.detail ? f.detail : "", f.element, f.pc, f.other_pc,
                           f.thread, f.other_thread, f.block, f.other_block});
}
bool any_finding() { return !fake::reports.empty(); }
inline uintptr_t arena_begin() { return fake::at(0); }
inline uintptr_t arena_end() { return fake::at(sizeof fake::arena); }
inline int buffer_count() { return static_cast<int>(fake::buffers.size()); }
inline const Buffer& buffer_at(int index) { return fake::buffers[static_cast<size_t>(index)]; }
inline const Buffer* find_buffer(uintptr_t address) {
  for (const Buffer& buffer : fake::buffers)
    if (address >= buffer.begin && address < buffer.end) return &buffer;
  return nullptr;
}
inline const Buffer* nearest_buffer(uintptr_t address) {
  const Buffer* best = nullptr;
  uintptr_t least = ~uintptr_t{0};
  for (const Buffer& buffer : fake::buffers) {
    const uintptr_t distance = address < buffer.begin ? buffer.begin - address : address - buffer.end;
    if (distance < least) least = distance, best = &buffer;
  }
  return best;
}
inline uintptr_t shared_begin() { return fake::shared_at(0); }
inline int shared_array_count() { return static_cast<int>(fake::arrays.size()); }
inline const SharedArray& shared_array_at(int index) { return fake::arrays[static_cast<size_t>(index)]; }
inline const SharedArray* find_shared_array(uint32_t offset) {
  for (const SharedArray& array : fake::arrays)
    if (offset >= array.begin && offset < array.end) return &array;
  return nullptr;
}
inline const SharedArray* nearest_shared_array(uint32_t offset) {
  const SharedArray* best = nullptr;
  for (const SharedArray& array : fake::arrays)
    if (array.begin <= offset) best = &array;
  return best;
}
inline const DeviceVariable* find_variable(uintptr_t address) {
  for (const DeviceVariable* v : {&fake::counter_variable, &fake::table_variable})
    if (address - reinterpret_cast<uintptr_t>(v->address) < v->size) return v;
  return nullptr;
}

}  // namespace tilestep
