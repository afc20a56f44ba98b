// The seam's allowance.
#pragma once

#include <cstddef>

namespace tilestep {

// Device memory that the seam may ask for, in all.
void allow_scratch(size_t bytes);

}  // namespace tilestep
