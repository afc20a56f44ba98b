// Loads and stores with a cache hint. A hint changes how fast, never what: each is a plain access.
#pragma once

#include "abi.h"

#define TILESTEP_LOAD(name) \
  template <class T>        \
  TILESTEP_INLINE T name(const T* address) { return *address; }
TILESTEP_LOAD(__ldg)
TILESTEP_LOAD(__ldca)
TILESTEP_LOAD(__ldcg)
TILESTEP_LOAD(__ldcs)
TILESTEP_LOAD(__ldlu)
TILESTEP_LOAD(__ldcv)
#undef TILESTEP_LOAD

namespace tilestep {
template <class T>
struct SameType {
  using Type = T;
};
}  // namespace tilestep

// The value converts to what the address points to, as it does for CUDA's overloads.
#define TILESTEP_STORE(name) \
  template <class T>         \
  TILESTEP_INLINE void name(T* address, typename tilestep::SameType<T>::Type value) { *address = value; }
TILESTEP_STORE(__stwb)
TILESTEP_STORE(__stcg)
TILESTEP_STORE(__stcs)
TILESTEP_STORE(__stwt)
#undef TILESTEP_STORE
