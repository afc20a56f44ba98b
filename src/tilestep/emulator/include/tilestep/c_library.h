// The few functions of the C library that device code calls: printf, memcpy, memmove, memset. (assert: ../assert.h.)
//
// They are macros for functions that stand in the global namespace and in std, so that `std::printf` works too.
// Device code and host code both get them; the machine knows which of the two is running.
#pragma once

#include <cstdio>
#include <cstring>

#include "abi.h"

#ifdef TILESTEP_CHECKED

// A compiler does not report what memcpy touches. Up to 16 bytes of known size become plain loads and stores, which it
// does report; the rest is the machine's.
TILESTEP_INLINE void* tilestep_seen_memcpy(void* to, const void* from, size_t bytes) {
  if (__builtin_constant_p(bytes) && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
    return __builtin_memcpy(to, from, bytes);
  }
  tilestep_memcpy(to, from, bytes);
  return to;
}
TILESTEP_INLINE void* tilestep_seen_memmove(void* to, const void* from, size_t bytes) {
  tilestep_memcpy(to, from, bytes);  // the machine's copy allows for overlap
  return to;
}
TILESTEP_INLINE void* tilestep_seen_memset(void* to, int value, size_t bytes) {
  tilestep_memset(to, value, bytes);
  return to;
}

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
