// What every kernel begins with. In the build that records a seam it tells the runtime which kernel was reached and
// with which arguments, converted to the types of its parameters, and goes no further; elsewhere it is nothing.
#pragma once

#include <memory>

#include "abi.h"

#ifdef TILESTEP_RECORDING

namespace tilestep {

template <class... Parameters>
void record_arguments(const Parameters&... parameters) {
  (tilestep_record_argument(const_cast<const void*>(static_cast<const volatile void*>(std::addressof(parameters))),
                            sizeof parameters),
   ...);
}

}  // namespace tilestep

// tilestep_record_entry() knows the kernel by its own return address, so it is called from the kernel itself.
#define TILESTEP_ENTER(...)                        \
  do {                                             \
    tilestep_record_entry();                       \
    ::tilestep::record_arguments(__VA_ARGS__);     \
    return;                                        \
  } while (false);

#else

#define TILESTEP_ENTER(...)

#endif
