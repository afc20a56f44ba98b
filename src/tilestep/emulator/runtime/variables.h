// The submission's own __device__ and __constant__ variables, and its module's data at large.
#pragma once

#include "memory.h"
#include "tilestep/abi.h"

namespace tilestep {

// All of them, the last declared first, linked by `next`.
const DeviceVariable* all_variables();
// Any static data of the executable: literals, tables, and variables that are not device variables.
bool is_module_data(uintptr_t address);
// Code of the executable: the submission's, the machine's, or a library's that is linked in.
bool is_module_code(uintptr_t address);

}  // namespace tilestep
