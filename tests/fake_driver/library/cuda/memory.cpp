// Device memory is the host's, each allocation by itself. What is freed keeps its content and is handed out
// again, so that whoever reads memory that nobody wrote finds what was left there, as on a card.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "../kernel.h"
#include "graphs.h"
#include "memory.h"

namespace {
constexpr int SOMEBODYS = 0x4E;  // what a fresh page holds: 8.7e8 as a float, nothing that anybody expects

std::mutex guard;
std::vector<FakeMemory> blocks;
struct Variable {
  unsigned char* begin;
  size_t bytes;
};
std::vector<Variable> variables;
double written = 0;

size_t used() {
  size_t bytes = 0;
  for (const FakeMemory& block : blocks) bytes += block.live ? block.bytes : 0;
  return bytes;
}

size_t capacity() { return size_t(setting("memory", 150754820096L)); }

unsigned char* at(DevicePointer address) { return reinterpret_cast<unsigned char*>(address); }

template <class Value>
int fill(DevicePointer to, Value value, size_t count) {
  if (int failed = ready()) return failed;
  if (to % sizeof(Value)) return INVALID_VALUE;
  if (!inside(to, count * sizeof(Value))) return INVALID_VALUE;
  Value* values = reinterpret_cast<Value*>(to);
  for (size_t i = 0; i < count; ++i) values[i] = value;
  written += double(count * sizeof(Value));
  advanceDevice(1000 + double(count * sizeof(Value)) / 4000);  // 4 TB/s
  return SUCCESS;
}

template <class Value>
int fillLater(DevicePointer to, Value value, size_t count) {
  if (capturing()) return keep([=] { return fill(to, value, count); });
  return fill(to, value, count);
}

// Pageable memory: a copy waits for what was asked before it, also the "async" one.
int copy(void* to, const void* from, size_t bytes) {
  if (int failed = waitForKernels()) return failed;
  std::memmove(to, from, bytes);
  advanceDevice(2000 + double(bytes) / 25);  // 25 GB/s
  waitForDevice();
  return SUCCESS;
}
}  // namespace

bool inside(DevicePointer address, size_t bytes) {
  std::lock_guard<std::mutex> lock(guard);
  auto lies = [&](const unsigned char* begin, size_t size) {
    return at(address) >= begin && at(address) <= begin + size && bytes <= size - size_t(at(address) - begin);
  };
  for (const FakeMemory& block : blocks)
    if (block.live && lies(block.begin, block.bytes)) return true;
  for (const Variable& variable : variables)
    if (lies(variable.begin, variable.bytes)) return true;
  return false;
}

void addVariable(void* address, size_t bytes) {
  std::lock_guard<std::mutex> lock(guard);
  variables.push_back({static_cast<unsigned char*>(address), bytes});
}

void dropVariables(const void* module) {
  std::lock_guard<std::mutex> lock(guard);
  std::vector<Variable> kept;
  for (const Variable& variable : variables)
    if (moduleOf(variable.begin) != module) kept.push_back(variable);
  variables.swap(kept);
}

std::vector<FakeMemory> everyBlock() {
  std::lock_guard<std::mutex> lock(guard);
  return blocks;
}

double bytesSet() { return written; }

API cuMemAlloc(DevicePointer* out, size_t bytes) {
  if (int failed = ready()) return failed;
  if (bytes == 0) return INVALID_VALUE;
  std::lock_guard<std::mutex> lock(guard);
  if (used() + bytes > capacity()) return OUT_OF_MEMORY;
  for (FakeMemory& block : blocks) {
    if (block.live || block.bytes != bytes) continue;
    block.live = true;
    *out = reinterpret_cast<DevicePointer>(block.begin);
    return SUCCESS;
  }
  size_t rounded = (bytes + 511) / 512 * 512;
  auto* fresh = static_cast<unsigned char*>(std::aligned_alloc(512, rounded));
  if (!fresh) return OUT_OF_MEMORY;
  std::memset(fresh, SOMEBODYS, rounded);
  blocks.push_back({fresh, bytes, true});
  *out = reinterpret_cast<DevicePointer>(fresh);
  return SUCCESS;
}
API cuMemAllocAsync(DevicePointer* out, size_t bytes, Stream*) { return cuMemAlloc(out, bytes); }
API cuMemAllocFromPoolAsync(DevicePointer* out, size_t bytes, void*, Stream*) { return cuMemAlloc(out, bytes); }

API cuMemFree(DevicePointer address) {
  if (int failed = ready()) return failed;
  if (!address) return SUCCESS;
  std::lock_guard<std::mutex> lock(guard);
  for (FakeMemory& block : blocks) {
    if (!block.live || block.begin != at(address)) continue;
    block.live = false;
    return SUCCESS;
  }
  return INVALID_VALUE;
}
API cuMemFreeAsync(DevicePointer address, Stream*) { return cuMemFree(address); }

API cuMemGetInfo(size_t* available, size_t* total) {
  if (int failed = ready()) return failed;
  std::lock_guard<std::mutex> lock(guard);
  *total = capacity();
  *available = *total - used();
  return SUCCESS;
}

API cuMemGetAddressRange(DevicePointer* base, size_t* bytes, DevicePointer address) {
  if (int failed = ready()) return failed;
  std::lock_guard<std::mutex> lock(guard);
  for (const FakeMemory& block : blocks) {
    if (!block.live || at(address) < block.begin || at(address) >= block.begin + block.bytes) continue;
    if (base) *base = reinterpret_cast<DevicePointer>(block.begin);
    if (bytes) *bytes = block.bytes;
    return SUCCESS;
  }
  return NOT_FOUND;
}

API cuMemcpyHtoD(DevicePointer to, const void* from, size_t bytes) {
  if (int failed = ready()) return failed;
  if (!inside(to, bytes)) return INVALID_VALUE;
  return copy(at(to), from, bytes);
}
API cuMemcpyDtoH(void* to, DevicePointer from, size_t bytes) {
  if (int failed = ready()) return failed;
  if (!inside(from, bytes)) return INVALID_VALUE;
  return copy(to, at(from), bytes);
}
API cuMemcpyDtoD(DevicePointer to, DevicePointer from, size_t bytes) {
  if (int failed = ready()) return failed;
  if (!inside(to, bytes) || !inside(from, bytes)) return INVALID_VALUE;
  std::memmove(at(to), at(from), bytes);
  advanceDevice(2000 + double(bytes) / 2000);  // 2 TB/s, read and written
  return SUCCESS;
}
API cuMemcpyHtoDAsync(DevicePointer to, const void* from, size_t bytes, Stream*) { return cuMemcpyHtoD(to, from, bytes); }
API cuMemcpyDtoHAsync(void* to, DevicePointer from, size_t bytes, Stream*) { return cuMemcpyDtoH(to, from, bytes); }
API cuMemcpyDtoDAsync(DevicePointer to, DevicePointer from, size_t bytes, Stream*) { return cuMemcpyDtoD(to, from, bytes); }

API cuMemsetD8(DevicePointer to, unsigned char value, size_t count) { return fill(to, value, count); }
API cuMemsetD16(DevicePointer to, unsigned short value, size_t count) { return fill(to, value, count); }
API cuMemsetD32(DevicePointer to, unsigned value, size_t count) { return fill(to, value, count); }
API cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, Stream*) { return fillLater(to, value, count); }
API cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count, Stream*) { return fillLater(to, value, count); }
API cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, Stream*) { return fillLater(to, value, count); }

// Pools, as far as a library asks for them before it makes a first allocation.
API cuDeviceGetDefaultMemPool(void** pool, int) {
  static int thePool;
  *pool = &thePool;
  return SUCCESS;
}
API cuDeviceGetMemPool(void** pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }
API cuMemPoolSetAttribute(void*, int, void*) { return SUCCESS; }
API cuMemPoolGetAttribute(void*, int, void* value) {
  std::memset(value, 0, 8);
  return SUCCESS;
}
API cuMemPoolTrimTo(void*, size_t) { return SUCCESS; }
