// Attributes of kernels, and how many blocks of one fit a multiprocessor.
#pragma once

#include <cstring>

#include "host_device.h"

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
constexpr int cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100;

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

namespace tilestep {

// Where the last argument but `count` of a list ends: at a comma outside of parentheses, counted from the list's end,
// as a kernel's own template arguments stand at its beginning.
inline const char* argument_end(const char* text, int count) {
  int depth = 0;
  for (const char* c = text + std::strlen(text); c-- != text;) {
    depth += *c == ')' || *c == ']' || *c == '}' ? 1 : *c == '(' || *c == '[' || *c == '{' ? -1 : 0;
    if (*c == ',' && depth == 0 && --count == 0) return c;
  }
  return nullptr;
}

// `text` is the whole argument list as written; the kernel is what comes before the attribute.
inline cudaError_t set_kernel_attribute(const char* text, const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;  // the others are hints
  const char* end = std::strstr(text, "cudaFuncAttribute");
  if (end == nullptr) end = argument_end(text, 2);
  char kernel[160];
  size_t length = end == nullptr ? 0 : size_t(end - text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == ',')) --length;
  if (length >= sizeof kernel) length = sizeof kernel - 1;
  for (size_t i = 0; i < length; ++i) kernel[i] = text[i];
  kernel[length] = 0;
  name_kernel(kernel, function);
  return remember_error(tilestep_record_shared_limit(function, value));
}

template <class Kernel>
TILESTEP_INLINE cudaError_t set_function_attribute(const char* text, Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return set_kernel_attribute(text, reinterpret_cast<const void*>(kernel), attribute, value);
}

}  // namespace tilestep

#define cudaFuncSetAttribute(...) tilestep::set_function_attribute(#__VA_ARGS__, __VA_ARGS__)

template <class Kernel>
inline cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}

// Registers are the compiler's business, which this target does not have: 32 a thread is a plain guess.
template <class Kernel>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = tilestep::kThreadsPerBlock;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = tilestep::kSharedPerBlock;
  return cudaSuccess;
}

// Bounded by threads, blocks and dynamic shared memory; registers and static shared memory are left out.
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int block_size, size_t dynamic_shared) {
  if (block_size <= 0 || block_size > tilestep::kThreadsPerBlock) return tilestep::remember_error(cudaErrorInvalidValue);
  const int warps = (block_size + 31) / 32;
  const int by_threads = tilestep::kThreadsPerMultiprocessor / 32 / warps;
  const int by_shared = int(tilestep::kSharedPerMultiprocessor / (dynamic_shared + tilestep::kSharedReservedPerBlock));
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*blocks > tilestep::kBlocksPerMultiprocessor) *blocks = tilestep::kBlocksPerMultiprocessor;
  return cudaSuccess;
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel, size_t dynamic_shared = 0,
                                                      int limit = 0) {
  *block = limit > 0 && limit < tilestep::kThreadsPerBlock ? limit : tilestep::kThreadsPerBlock;
  int blocks = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, *block, dynamic_shared);
  *grid = blocks * tilestep::kMultiprocessors;
  return error;
}
