// Names for addresses: which array, and how many bytes into it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events.h"
#include "memory.h"
#include "report.h"
#include "tilestep/abi.h"

namespace tilestep {

struct Place {
  const char* array = nullptr;
  int64_t element = -1;  // byte offset from the array's first byte; negative or past its end when outside
};

// The array that holds `address`, or the one that it most likely missed.
inline Place place_of(uintptr_t address, Space space) {
  if (space == Space::global) {
    const Buffer* buffer = find_buffer(address);
    if (!buffer) buffer = nearest_buffer(address);
    if (buffer) return {buffer->name, static_cast<int64_t>(address - buffer->begin)};
  } else if (space == Space::shared) {
    const uint32_t offset = static_cast<uint32_t>(address - shared_begin());
    const SharedArray* array = find_shared_array(offset);
    if (!array) array = nearest_shared_array(offset);
    if (array) return {array->name, static_cast<int64_t>(offset) - static_cast<int64_t>(array->begin)};
  } else if (const DeviceVariable* variable = find_variable(address)) {
    return {variable->name, static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(variable->address))};
  }
  return {};
}

// A finding about one access, without another thread in it.
inline Finding finding_at(const char* code, const MemoryEvent& event, uintptr_t address, const Thread& thread,
                          const Block& block, const char* detail) {
  const Place place = place_of(address, event.space);
  return Finding{code,          place.array, place.element, event.pc, 0,     thread.linear, UINT32_MAX,
                 block.linear, UINT64_MAX,  detail};
}

inline const char* name_of(Access kind) {
  return kind == Access::read ? "read" : kind == Access::write ? "write" : "atomic";
}

}  // namespace tilestep
