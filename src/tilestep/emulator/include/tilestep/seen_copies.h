// memcpy, memmove and memset as the checkers see them. A compiler does not report what these touch.
//
// They stand in front of the C++ library's headers, whose own copies (std::copy) are turned to them by a macro that
// the checked build is given.
#pragma once

#include <cstddef>

#include "abi.h"

#ifdef TILESTEP_CHECKED

// Up to 16 bytes of known size become plain loads and stores, which a compiler does report; the rest is the machine's.
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

#endif
