// Which launches a GPU refuses (compute capability 9.0).
#pragma once

#include <cstddef>

#include "tilestep/abi.h"

namespace tilestep {

constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 9;  // of CUDA's error numbers

// 0, or the number of a CUDA error, with a sentence in `detail`.
int check_launch(const LaunchRequest& request, char* detail, size_t room);
// cudaFuncAttributeMaxDynamicSharedMemorySize; a nullptr stands for a kernel whose address is not known, and then the
// allowance holds for every launch that does not know its kernel's address either.
int set_dynamic_shared_limit(const void* function, int bytes);

}  // namespace tilestep
