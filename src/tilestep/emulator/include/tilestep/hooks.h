// Helpers that touch the machine's own memory must not be seen by the checkers. A compiler does not inline a function
// without hooks into one with them, so in the checked build they are calls.
#pragma once

#ifdef TILESTEP_CHECKED
#define TILESTEP_UNHOOKED inline __attribute__((noinline, no_sanitize("thread")))
#else
#define TILESTEP_UNHOOKED inline __attribute__((always_inline))
#endif
