// Device memory: one arena for everything global, one shared segment for the running block, and the
// variables of the module. Checkers ask here what an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilestep {

constexpr size_t kGuardBytes = 4096;            // on both sides of every buffer, filled with a NaN pattern
constexpr size_t kSharedSegment = 256 * 1024;   // static from the front, dynamic behind it
constexpr size_t kStaticSharedLimit = 48 * 1024;
constexpr size_t kSharedDefault = 48 * 1024;  // static and dynamic together, unless the seam asks for more
constexpr size_t kDynamicSharedLimit = 227 * 1024;

struct ColumnRange {
  const char* name;
  uint32_t begin, end;  // bytes within a row
};

struct Buffer {
  const char* name;  // of the seam's parameter, or "scratch 1", ...
  uintptr_t begin, end;
  bool is_input;        // a kernel must not write it
  bool initialised;     // inputs and memset scratch; outputs and fresh scratch are not
  uint32_t row_bytes;
  const ColumnRange* ranges;
  int range_count;
};

// An array in shared memory: a __shared__ declaration, or "dynamic shared memory".
struct SharedArray {
  const char* name;
  uint32_t begin, end;  // offsets in the segment
  uint32_t row_bytes;   // of the innermost dimension, 0 where it is not known
};

// The arena. Addresses in [arena_begin, arena_end) are Space::global.
uintptr_t arena_begin();
uintptr_t arena_end();
int buffer_count();
const Buffer& buffer_at(int index);
const Buffer* find_buffer(uintptr_t address);     // nullptr in a guard band or a gap
const Buffer* nearest_buffer(uintptr_t address);  // whose guard band or neighbourhood it is; may be nullptr

// The running block's shared segment (of the calling OS thread).
uintptr_t shared_begin();
int shared_array_count();
const SharedArray& shared_array_at(int index);
const SharedArray* find_shared_array(uint32_t offset);
const SharedArray* nearest_shared_array(uint32_t offset);

// Where the module's own variables are: name, or nullptr.
struct DeviceVariable;
const DeviceVariable* find_variable(uintptr_t address);

}  // namespace tilestep
