// Which launches a GPU refuses (compute capability 9.0).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilestep/abi.h"

namespace tilestep {

constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 9;  // of CUDA's error numbers

constexpr int64_t kNotAsked = -1;

// 0, or the number of a CUDA error, with a sentence in `detail`.
int check_launch(const LaunchRequest& request, char* detail, size_t room);
// Whether a block gets its static and dynamic shared memory, where the seam has `asked` for so much dynamic memory
// (or kNotAsked). If not, a sentence is in `detail`. The static part alone has a limit of its own, not looked at here.
bool check_shared(size_t static_bytes, size_t dynamic_bytes, int64_t asked, char* detail, size_t room);
// The dynamic limit that the seam has set for a kernel so far, or kNotAsked.
int64_t dynamic_shared_asked(const void* function);
// cudaFuncAttributeMaxDynamicSharedMemorySize; a nullptr stands for a kernel whose address is not known, and then the
// allowance holds for every launch that does not know its kernel's address either.
int set_dynamic_shared_limit(const void* function, int bytes);

}  // namespace tilestep
