// What a plan is written down with when it is to be replayed elsewhere: places in device memory, kernels, arguments.
#pragma once

#include "result.h"

namespace tilestep {

#ifdef TILESTEP_RECORDING
constexpr bool kRecording = true;
#else
constexpr bool kRecording = false;
#endif

// Adds where an address lies to a line: `buffer` and `offset`, or `variable` and `offset`. Nothing if it is nowhere.
void add_place(JsonLine& line, uintptr_t address);
// The bytes of the host that a copy takes along, as a file of their own; its name.
const char* save_bytes(const void* from, size_t bytes);
// Every variable of the module, with its size.
void write_variables();

// Runs a kernel up to where it has told its arguments. Refuses the seam if it never does.
void record_kernel(const LaunchRequest& request, uintptr_t pc);

}  // namespace tilestep
