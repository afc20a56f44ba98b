#include "variables.h"

#ifdef __APPLE__
#include <mach-o/getsect.h>
#include <mach-o/ldsyms.h>
#else
extern "C" char __executable_start[], _etext[], _end[];
#endif

namespace tilestep {

static DeviceVariable* first_variable;

const DeviceVariable* all_variables() { return first_variable; }

const DeviceVariable* find_variable(uintptr_t address) {
  for (const DeviceVariable* v = first_variable; v; v = v->next) {
    if (address - reinterpret_cast<uintptr_t>(v->address) < v->size) return v;
  }
  return nullptr;
}

bool is_module_data(uintptr_t address) {
#ifdef __APPLE__
  static const char* const segments[] = {"__TEXT", "__DATA_CONST", "__DATA"};
  for (const char* segment : segments) {
    unsigned long size = 0;
    const uint8_t* begin = getsegmentdata(&_mh_execute_header, segment, &size);
    if (begin && address - reinterpret_cast<uintptr_t>(begin) < size) return true;
  }
  return false;
#else
  return address >= reinterpret_cast<uintptr_t>(__executable_start) && address < reinterpret_cast<uintptr_t>(_end);
#endif
}

bool is_module_code(uintptr_t address) {
#ifdef __APPLE__
  unsigned long size = 0;
  const uint8_t* begin = getsegmentdata(&_mh_execute_header, "__TEXT", &size);
  return begin && address - reinterpret_cast<uintptr_t>(begin) < size;
#else
  return address >= reinterpret_cast<uintptr_t>(__executable_start) && address < reinterpret_cast<uintptr_t>(_etext);
#endif
}

}  // namespace tilestep

extern "C" void tilestep_register_variable(tilestep::DeviceVariable* variable) {
  variable->next = tilestep::first_variable;
  tilestep::first_variable = variable;
}
