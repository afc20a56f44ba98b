// Who listens to the machine's events in this build.
#pragma once

#include "events.h"

#ifdef TILESTEP_CHECKED
#if __has_include("checkers.h")
#include "checkers.h"
#else
namespace tilestep {
using Checkers = NoListener;
}
#endif
#endif

namespace tilestep {

#ifdef TILESTEP_CHECKED
constexpr bool kChecked = true;
using Listener = Checkers;
#else
constexpr bool kChecked = false;
using Listener = NoListener;
#endif

// What this run does with the events of the checked build.
enum class Mode : uint8_t {
  fast,     // there are none
  record,   // no kernel runs: the plan is written down for a replay elsewhere
  traffic,  // only bytes of global memory are counted, on every OS thread
  check,    // the listener gets them, from one OS thread
  watch,    // nothing is checked: one OS thread logs shared arrays and counts accesses (watch.h)
};

extern Mode mode;
extern Listener listener;

TILESTEP_INLINE bool checking() { return kChecked && mode == Mode::check; }

}  // namespace tilestep
