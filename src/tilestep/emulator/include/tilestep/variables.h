// `__device__` and `__constant__` variables of namespace scope: the frontend declares one registrar after each.
#pragma once

#include <type_traits>

#include "abi.h"

namespace tilestep {

struct VariableRegistrar {
  DeviceVariable variable;

  // `address` may point to anything, volatile or const.
  VariableRegistrar(const char* name, int line, const volatile void* address, size_t size, bool constant)
      : variable{name, line, const_cast<void*>(address), size, constant, nullptr} {
    tilestep_register_variable(&variable);
  }
};

}  // namespace tilestep
