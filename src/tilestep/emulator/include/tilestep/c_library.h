// The few functions of the C library that device code calls: printf, memcpy, memmove, memset. (assert: ../assert.h.)
//
// They are macros for functions that stand in the global namespace and in std, so that `std::printf` works too.
// Device code and host code both get them; the machine knows which of the two is running.
#pragma once

#include <cstdio>
#include <cstring>

#include "abi.h"
#include "seen_copies.h"

#ifdef TILESTEP_CHECKED

namespace std {
using ::tilestep_seen_memcpy;
using ::tilestep_seen_memmove;
using ::tilestep_seen_memset;
}  // namespace std

#define memcpy tilestep_seen_memcpy
#define memmove tilestep_seen_memmove
#define memset tilestep_seen_memset

#endif

namespace std {
using ::tilestep_printf;
}  // namespace std

#define printf tilestep_printf
