// assert for device code: a false one ends the run and is reported as a finding. Like the C header, it may be
// included again after NDEBUG has changed.
#include "tilestep/abi.h"

#undef assert
#ifdef NDEBUG
#define assert(...) static_cast<void>(0)
#else
#define assert(...) \
  ((__VA_ARGS__) ? static_cast<void>(0) : tilestep_trap("assert(" #__VA_ARGS__ ")", __FILE__, __LINE__))
#endif
