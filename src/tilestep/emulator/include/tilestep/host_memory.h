// Memory of the host API: allocation, memset, copies and symbols. Everything is recorded into the plan; a copy to the
// host is what a seam may not do, because nothing has run yet when it is asked for.
#pragma once

#include "host_refusals.h"
#include "host_types.h"
#include "unavailable.h"

namespace tilestep {

TILESTEP_INLINE cudaError_t allocate(void** pointer, size_t bytes) {
  if (pointer == nullptr) return remember_error(cudaErrorInvalidValue);
  *pointer = bytes == 0 ? nullptr : tilestep_record_malloc(bytes);
  return *pointer == nullptr && bytes != 0 ? remember_error(cudaErrorMemoryAllocation) : cudaSuccess;
}

TILESTEP_INLINE cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* call, int line) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      __builtin_memcpy(to, from, bytes);
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      return remember_error(tilestep_record_copy(to, from, bytes, true));
    case cudaMemcpyDeviceToDevice:
      return remember_error(tilestep_record_copy(to, from, bytes, false));
    case cudaMemcpyDefault:  // the machine takes only what is device memory: the first that fits
      if (tilestep_record_copy(to, from, bytes, false) == cudaSuccess) return cudaSuccess;
      if (tilestep_record_copy(to, from, bytes, true) == cudaSuccess) return cudaSuccess;
      forbid(Forbidden::read_back, call, line);
      break;
    case cudaMemcpyDeviceToHost:
      forbid(Forbidden::read_back, call, line);
  }
  return remember_error(cudaErrorInvalidMemcpyDirection);
}

TILESTEP_INLINE cudaError_t copy_to_symbol(const volatile void* symbol, size_t size, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind, const char* call, int line) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice) forbid(Forbidden::read_back, call, line);
  if (offset > size || bytes > size - offset) return remember_error(cudaErrorInvalidValue);
  unsigned char* to = static_cast<unsigned char*>(const_cast<void*>(symbol)) + offset;
  return remember_error(tilestep_record_symbol_copy(to, from, bytes, kind == cudaMemcpyHostToDevice));
}

}  // namespace tilestep

template <class T>
TILESTEP_INLINE cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return tilestep::allocate(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
TILESTEP_INLINE cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream, int line = __builtin_LINE()) {
  tilestep::require_default_stream(stream, "cudaMallocAsync", line);
  return tilestep::allocate(reinterpret_cast<void**>(pointer), bytes);
}
TILESTEP_INLINE cudaError_t cudaFree(void* pointer) {
  return pointer == nullptr ? cudaSuccess : tilestep::remember_error(tilestep_record_free(pointer));
}
TILESTEP_INLINE cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, int line = __builtin_LINE()) {
  tilestep::require_default_stream(stream, "cudaFreeAsync", line);
  return cudaFree(pointer);
}

TILESTEP_INLINE cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return tilestep::remember_error(tilestep_record_memset(to, value, bytes));
}
TILESTEP_INLINE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr,
                                            int line = __builtin_LINE()) {
  tilestep::require_default_stream(stream, "cudaMemsetAsync", line);
  return tilestep::remember_error(tilestep_record_memset(to, value, bytes));
}

TILESTEP_INLINE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                       int line = __builtin_LINE()) {
  return tilestep::copy(to, from, bytes, kind, "cudaMemcpy", line);
}
TILESTEP_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                            cudaStream_t stream = nullptr, int line = __builtin_LINE()) {
  tilestep::require_default_stream(stream, "cudaMemcpyAsync", line);
  return tilestep::copy(to, from, bytes, kind, "cudaMemcpyAsync", line);
}

template <class T>
TILESTEP_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, int line = __builtin_LINE()) {
  return tilestep::copy_to_symbol(&symbol, sizeof symbol, from, bytes, offset, kind, "cudaMemcpyToSymbol", line);
}
template <class T>
TILESTEP_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset,
                                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                                    int line = __builtin_LINE()) {
  tilestep::require_default_stream(stream, "cudaMemcpyToSymbolAsync", line);
  return tilestep::copy_to_symbol(&symbol, sizeof symbol, from, bytes, offset, kind, "cudaMemcpyToSymbolAsync", line);
}
template <class T>
TILESTEP_INLINE cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0,
                                                 cudaMemcpyKind = cudaMemcpyDeviceToHost, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::read_back, "cudaMemcpyFromSymbol", line);
  return cudaSuccess;
}
template <class P, class T>
TILESTEP_INLINE cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  *pointer = reinterpret_cast<P*>(const_cast<unsigned char*>(&reinterpret_cast<const volatile unsigned char&>(symbol)));
  return cudaSuccess;
}
template <class T>
TILESTEP_INLINE cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}

template <class... Any>
TILESTEP_UNAVAILABLE("cudaMemcpy2D is not run by the emulator, which also records a GPU's launches; a seam's rows lie one behind the other, copy with cudaMemcpy")
cudaError_t cudaMemcpy2D(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("cudaMemcpy2DAsync is not run by the emulator, which also records a GPU's launches; a seam's rows lie one behind the other, copy with cudaMemcpy")
cudaError_t cudaMemcpy2DAsync(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("cudaMallocPitch is not run by the emulator, which also records a GPU's launches; allocate rows of the width that you need with cudaMalloc")
cudaError_t cudaMallocPitch(Any&&...);
