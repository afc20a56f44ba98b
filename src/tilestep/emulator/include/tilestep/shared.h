// `__shared__` declarations: the frontend names each one with a struct of its own, `Tag`.
#pragma once

#include <type_traits>

#include "abi.h"
#include "hooks.h"

namespace tilestep {

#ifdef TILESTEP_CHECKED

template <class T>
constexpr unsigned row_bytes_of() {
  if constexpr (std::rank_v<T> > 1) return row_bytes_of<std::remove_extent_t<T>>();
  return std::rank_v<T> == 1 ? unsigned(sizeof(T)) : 0;
}

// A tag has one member, the variable.
template <class Tag>
constexpr unsigned row_bytes_of_member(Tag* tag = nullptr) {
  auto row = [](auto& holder) {
    auto& [variable] = holder;
    return std::integral_constant<unsigned, row_bytes_of<std::remove_cv_t<decltype(variable)>>()>();
  };
  return decltype(row(*tag))::value;
}

template <class Tag>
struct SharedSiteOf {
  static SharedSite site;
};
template <class Tag>
SharedSite SharedSiteOf<Tag>::site{nullptr, 0, unsigned(sizeof(Tag)), unsigned(alignof(Tag)),
                                          row_bytes_of_member<Tag>(), 0, 0};

// Without hooks: bookkeeping is not an access of the kernel.
template <class Tag>
TILESTEP_UNHOOKED void* place_shared(const char* name, int line) {
  SharedSiteOf<Tag>::site.name = name;
  SharedSiteOf<Tag>::site.line = line;
  return tilestep_static_shared(&SharedSiteOf<Tag>::site);
}

template <class Tag>
TILESTEP_INLINE Tag& shared(const char* name, int line) {
  return *static_cast<Tag*>(place_shared<Tag>(name, line));
}

#else

// An OS thread runs one block at a time, and all of the block's fibers on itself: thread-local is block-local.
// Aligned to 16 bytes at least, as in the checked build: float arrays get read as float4.
template <class Tag>
struct SharedStorage {
  alignas(Tag) alignas(16) static __thread unsigned char bytes[sizeof(Tag)];
};
template <class Tag>
alignas(Tag) alignas(16) __thread unsigned char SharedStorage<Tag>::bytes[sizeof(Tag)];

template <class Tag>
TILESTEP_INLINE Tag& shared(const char*, int) {
  return *reinterpret_cast<Tag*>(SharedStorage<Tag>::bytes);
}

#endif

}  // namespace tilestep
