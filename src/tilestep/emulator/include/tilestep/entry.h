// What every kernel begins with. In the build that records a seam it tells the runtime which kernel was reached and
// with which arguments, converted to the types of its parameters, and goes no further; elsewhere it is nothing.
#pragma once

#include <memory>

#include "abi.h"

#ifdef TILESTEP_RECORDING

#include "padding.h"

namespace tilestep {

template <class Parameter>
void record_argument(const Parameter& parameter) {
  using Value = std::remove_cv_t<Parameter>;
  const void* from = const_cast<const void*>(static_cast<const volatile void*>(std::addressof(parameter)));
  // Not is_trivially_copyable: g++ denies that of a lambda once somebody has asked whether it can be assigned.
  if constexpr (std::is_class_v<Value> && std::is_trivially_constructible_v<Value, const Parameter&> &&
                std::is_trivially_destructible_v<Value>) {
    Value copy(parameter);
    TILESTEP_CLEAR_PADDING(copy);
    from = __builtin_addressof(copy);
    tilestep_record_argument(from, sizeof(Value));
  } else {
    tilestep_record_argument(from, sizeof(Value));
  }
}

template <class... Parameters>
void record_arguments(const Parameters&... parameters) {
  (record_argument(parameters), ...);
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
