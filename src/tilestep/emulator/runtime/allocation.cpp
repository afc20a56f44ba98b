// operator new and delete over malloc, so that an executable needs no C++ library. Weak: one that is linked wins.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "result.h"

#define TILESTEP_WEAK __attribute__((weak))

static void* allocate(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (!memory) tilestep::give_up("out of memory in operator new");
  return memory;
}

TILESTEP_WEAK void* operator new(std::size_t bytes) { return allocate(bytes); }
TILESTEP_WEAK void* operator new[](std::size_t bytes) { return allocate(bytes); }
TILESTEP_WEAK void operator delete(void* memory) noexcept { std::free(memory); }
TILESTEP_WEAK void operator delete[](void* memory) noexcept { std::free(memory); }
TILESTEP_WEAK void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
TILESTEP_WEAK void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
