// What a compiler calls for -fsanitize=thread. The names are its interface; everything else about them is ours.
#include <string.h>

#include "access.h"

using namespace tilestep;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

#define TILESTEP_HOOKS(size)                                                                                          \
  void __tsan_read##size(void* a) {                                                                                   \
    on_access<size, Access::read>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                   \
  }                                                                                                                   \
  void __tsan_write##size(void* a) {                                                                                  \
    on_access<size, Access::write>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                  \
  }                                                                                                                   \
  void __tsan_volatile_read##size(void* a) {                                                                          \
    on_access<size, Access::read>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                   \
  }                                                                                                                   \
  void __tsan_volatile_write##size(void* a) {                                                                         \
    on_access<size, Access::write>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                  \
  }                                                                                                                   \
  void __tsan_read_write##size(void* a) {                                                                             \
    on_access<size, Access::read>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                   \
    on_access<size, Access::write>(reinterpret_cast<uintptr_t>(a), TILESTEP_CALLER);                                  \
  }
TILESTEP_HOOKS(1)
TILESTEP_HOOKS(2)
TILESTEP_HOOKS(4)
TILESTEP_HOOKS(8)
TILESTEP_HOOKS(16)

// The type asks for less alignment than its size has: a GPU moves it in the pieces that fit.
#define TILESTEP_UNALIGNED_HOOKS(size)                                                                                \
  void __tsan_unaligned_read##size(void* a) {                                                                         \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::read, TILESTEP_CALLER);                                    \
  }                                                                                                                   \
  void __tsan_unaligned_write##size(void* a) {                                                                        \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::write, TILESTEP_CALLER);                                   \
  }                                                                                                                   \
  void __tsan_unaligned_volatile_read##size(void* a) {                                                                \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::read, TILESTEP_CALLER);                                    \
  }                                                                                                                   \
  void __tsan_unaligned_volatile_write##size(void* a) {                                                               \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::write, TILESTEP_CALLER);                                   \
  }                                                                                                                   \
  void __tsan_unaligned_read_write##size(void* a) {                                                                   \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::read, TILESTEP_CALLER);                                    \
    on_range(reinterpret_cast<uintptr_t>(a), size, Access::write, TILESTEP_CALLER);                                   \
  }
TILESTEP_UNALIGNED_HOOKS(2)
TILESTEP_UNALIGNED_HOOKS(4)
TILESTEP_UNALIGNED_HOOKS(8)
TILESTEP_UNALIGNED_HOOKS(16)

void __tsan_read_range(void* a, size_t bytes) {
  on_range(reinterpret_cast<uintptr_t>(a), bytes, Access::read, TILESTEP_CALLER);
}

void __tsan_write_range(void* a, size_t bytes) {
  on_range(reinterpret_cast<uintptr_t>(a), bytes, Access::write, TILESTEP_CALLER);
}

void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  on_range(reinterpret_cast<uintptr_t>(from), bytes, Access::read, TILESTEP_CALLER);
  on_range(reinterpret_cast<uintptr_t>(to), bytes, Access::write, TILESTEP_CALLER);
  return memmove(to, from, bytes);
}

void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  on_range(reinterpret_cast<uintptr_t>(from), bytes, Access::read, TILESTEP_CALLER);
  on_range(reinterpret_cast<uintptr_t>(to), bytes, Access::write, TILESTEP_CALLER);
  return memmove(to, from, bytes);
}

void* __tsan_memset(void* to, int value, size_t bytes) {
  on_range(reinterpret_cast<uintptr_t>(to), bytes, Access::write, TILESTEP_CALLER);
  return memset(to, value, bytes);
}

// Device code's own copies: hooked in the checked build, plain in the fast one.
void tilestep_memcpy(void* to, const void* from, size_t bytes) {
  if (kChecked && hot.in_kernel) {
    on_range(reinterpret_cast<uintptr_t>(from), bytes, Access::read, TILESTEP_CALLER);
    on_range(reinterpret_cast<uintptr_t>(to), bytes, Access::write, TILESTEP_CALLER);
  }
  memmove(to, from, bytes);
}

void tilestep_memset(void* to, int value, size_t bytes) {
  if (kChecked && hot.in_kernel) on_range(reinterpret_cast<uintptr_t>(to), bytes, Access::write, TILESTEP_CALLER);
  memset(to, value, bytes);
}

}  // extern "C"
