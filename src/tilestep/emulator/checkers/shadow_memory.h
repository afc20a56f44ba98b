// What the checkers remember of memory lives in memory of its own, mapped once and paid for only where it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace tilestep {

// `count` zeroed values. Ends the process when the machine refuses even the address space: no check could be trusted.
template <class T>
T* map_shadow(size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T) + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) return static_cast<T*>(memory);
  static const char sentence[] = "tilestep: no address space is left for the checkers' shadow memory\n";
  if (write(2, sentence, sizeof sentence - 1)) {}
  _exit(5);
}

// Values that are appended and looked up by number; they never move. Each stretch of memory that it maps is twice as long
// as the one before, the first `kFirst` values long.
template <class T, uint32_t kFirst>
class Pool {
 public:
  uint32_t add() {
    const uint32_t index = used_++;
    const int stretch = stretch_of(index);
    if (!stretches_[stretch]) stretches_[stretch] = map_shadow<T>(size_t{kFirst} << stretch);
    return index;
  }
  T& operator[](uint32_t index) { return *at(index); }
  const T& operator[](uint32_t index) const { return *at(index); }
  uint32_t size() const { return used_; }
  void clear() { used_ = 0; }  // keeps the memory and what is in it

 private:
  static int stretch_of(uint32_t index) { return 31 - __builtin_clz(index / kFirst + 1); }
  T* at(uint32_t index) const {
    const int stretch = stretch_of(index);
    return stretches_[stretch] + (index - kFirst * ((1u << stretch) - 1));
  }

  T* stretches_[32] = {};
  uint32_t used_ = 0;
};

}  // namespace tilestep
