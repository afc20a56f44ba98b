// The arena: the seam's buffers and scratch, each between guard bands, in the middle of a stretch of addresses that
// nothing else uses, so that a wild index can be told from a wild pointer.
#include "memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"
#include "reporting.h"
#include "result.h"
#include "tilestep/abi.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace tilestep {

constexpr size_t kPage = 64 * 1024;              // a multiple of every system's page
constexpr size_t kMargin = size_t(256) << 20;    // closed addresses on both sides
constexpr int kMaxBuffers = 32 + kMaxScratch;

static uintptr_t low, high;  // of the arena
static uintptr_t next_free;
static Buffer buffers[kMaxBuffers];
static char scratch_names[kMaxScratch][24];
static int buffers_used, scratch_used;

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void reserve_arena(size_t buffer_bytes, int count, size_t scratch_bytes) {
  const size_t edges = size_t(count + kMaxScratch) * 3 * kGuardBytes;
  const size_t bytes = round_up(buffer_bytes + scratch_bytes + edges, kPage);
  void* memory =
      mmap(nullptr, bytes + 2 * kMargin, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) give_up("no address space for device memory");
  low = round_up(reinterpret_cast<uintptr_t>(memory) + kMargin - kPage, kPage);
  high = low + bytes;
  next_free = low;
  open_arena();
}

static void set_arena(int protection) {
  if (mprotect(reinterpret_cast<void*>(low), high - low, protection) != 0) give_up("cannot protect device memory");
}

void close_arena() { set_arena(PROT_NONE); }
void open_arena() { set_arena(PROT_READ | PROT_WRITE); }

Buffer& add_buffer(const char* name, size_t bytes) {
  if (buffers_used == kMaxBuffers) give_up("too many buffers");
  const uintptr_t begin = next_free + kGuardBytes;
  const uintptr_t end = begin + bytes;
  const uintptr_t stop = round_up(end + kGuardBytes, kGuardBytes);
  if (stop > high) give_up("device memory is too small for its buffers");
  memset(reinterpret_cast<void*>(next_free), 0xff, stop - next_free);
  next_free = stop;
  Buffer& buffer = buffers[buffers_used++];
  buffer = Buffer{};
  buffer.name = name;
  buffer.begin = begin;
  buffer.end = end;
  return buffer;
}

void* add_scratch(size_t bytes) {
  if (scratch_used == kMaxScratch) return nullptr;
  char* name = scratch_names[scratch_used++];
  snprintf(name, sizeof scratch_names[0], "scratch %d", scratch_used);
  open_arena();
  const Buffer& buffer = add_buffer(name, bytes);
  close_arena();
  return reinterpret_cast<void*>(buffer.begin);
}

uintptr_t arena_begin() { return low; }
uintptr_t arena_end() { return high; }
int buffer_count() { return buffers_used; }
const Buffer& buffer_at(int index) { return buffers[index]; }

const Buffer* find_buffer(uintptr_t address) {
  for (int i = 0; i < buffers_used; ++i) {
    if (address >= buffers[i].begin && address < buffers[i].end) return &buffers[i];
  }
  return nullptr;
}

const Buffer* nearest_buffer(uintptr_t address) {
  const Buffer* nearest = nullptr;
  uintptr_t least = UINTPTR_MAX;
  for (int i = 0; i < buffers_used; ++i) {
    const Buffer& b = buffers[i];
    const uintptr_t distance = address < b.begin ? b.begin - address : address < b.end ? 0 : address - b.end + 1;
    if (distance < least) {
      least = distance;
      nearest = &b;
    }
  }
  return nearest;
}

bool is_device_memory(uintptr_t address, size_t bytes) {
  if (address >= low && address < high) return bytes <= high - address;
  const DeviceVariable* variable = find_variable(address);
  return variable && bytes <= reinterpret_cast<uintptr_t>(variable->address) + variable->size - address;
}

bool is_near_arena(uintptr_t address) { return address - (low - kMargin + kPage) < high - low + 2 * (kMargin - kPage); }

static void verify_band(const Buffer& buffer, uintptr_t begin, uintptr_t end, const char* side) {
  for (uintptr_t at = begin; at < end; ++at) {
    if (*reinterpret_cast<const unsigned char*>(at) == 0xff) continue;
    if (reported("out-of-bounds-global", buffer.name)) return;  // and that one names the line
    Finding finding;
    finding.code = "guard-band";
    finding.array = buffer.name;
    finding.element = int64_t(at) - int64_t(buffer.begin);
    finding.detail = side;
    report(finding);
    return;
  }
}

void verify_guards() {
  for (int i = 0; i < buffers_used; ++i) {
    verify_band(buffers[i], buffers[i].begin - kGuardBytes, buffers[i].begin, "before");
    verify_band(buffers[i], buffers[i].end, buffers[i].end + kGuardBytes, "after");
  }
}

}  // namespace tilestep
