// How device memory is made and closed. memory.h is what the checkers see of it.
#pragma once

#include "memory.h"

namespace tilestep {

constexpr int kMaxScratch = 64;  // allocations of one seam

// Reserves room for `buffer_bytes` in `buffer_count` buffers and `scratch_bytes` more in up to kMaxScratch pieces.
void reserve_arena(size_t buffer_bytes, int buffer_count, size_t scratch_bytes);
// Adds a buffer between guard bands; all of it holds NaN bytes.
Buffer& add_buffer(const char* name, size_t bytes);
// nullptr when no room is left.
void* add_scratch(size_t bytes);

// Closed to the seam, open to kernels.
void close_arena();
void open_arena();

// Whether all of it lies in device memory or in one variable of the module: what a memset or copy may touch.
bool is_device_memory(uintptr_t address, size_t bytes);
// Close to the arena but not in it: an index that has run away.
bool is_near_arena(uintptr_t address);

// Reports guard bands that were written.
void verify_guards();

}  // namespace tilestep
