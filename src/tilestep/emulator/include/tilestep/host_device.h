// What the host API says of the device. It answers as an H200 does, so that a submission which sizes its launches by
// the device chooses what it would choose there.
#pragma once

#include <cstring>

#include "host_types.h"
#include "kernel_names.h"

namespace tilestep {

constexpr int kMultiprocessors = 132;
constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kRegisters = 65536;
constexpr int kSharedPerBlock = 48 * 1024;
constexpr int kSharedPerBlockOptin = 227 * 1024;
constexpr int kSharedPerMultiprocessor = 228 * 1024;
constexpr int kSharedReservedPerBlock = 1024;
constexpr int kL2Bytes = 50 * 1024 * 1024;
constexpr int kClockKilohertz = 1980000;
constexpr size_t kGlobalBytes = size_t(141) * 1000 * 1000 * 1000;

}  // namespace tilestep

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, reservedSharedMemPerBlock;
  size_t totalConstMem;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, l2CacheSize, concurrentKernels, cooperativeLaunch;
};

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : tilestep::remember_error(cudaErrorInvalidDevice);
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = *total_bytes = tilestep::kGlobalBytes;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return tilestep::remember_error(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = tilestep::kThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxBlockDimZ:
      *value = 64;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7fffffff;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = tilestep::kSharedPerBlock;
      return cudaSuccess;
    case cudaDevAttrTotalConstantMemory:
      *value = 65536;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = tilestep::kRegisters;
      return cudaSuccess;
    case cudaDevAttrClockRate:
      *value = tilestep::kClockKilohertz;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = tilestep::kMultiprocessors;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = tilestep::kL2Bytes;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = tilestep::kThreadsPerMultiprocessor;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrCooperativeLaunch:  // not on this target
      *value = 0;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = tilestep::kSharedPerMultiprocessor;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = tilestep::kSharedPerBlockOptin;
      return cudaSuccess;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = tilestep::kBlocksPerMultiprocessor;
      return cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = tilestep::kSharedReservedPerBlock;
      return cudaSuccess;
  }
  return tilestep::remember_error(cudaErrorInvalidValue);
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return tilestep::remember_error(cudaErrorInvalidDevice);
  *properties = cudaDeviceProp{};
  std::strcpy(properties->name, "tilestep CPU target (as an H200)");
  properties->totalGlobalMem = tilestep::kGlobalBytes;
  properties->sharedMemPerBlock = tilestep::kSharedPerBlock;
  properties->sharedMemPerBlockOptin = tilestep::kSharedPerBlockOptin;
  properties->sharedMemPerMultiprocessor = tilestep::kSharedPerMultiprocessor;
  properties->reservedSharedMemPerBlock = tilestep::kSharedReservedPerBlock;
  properties->totalConstMem = 65536;
  properties->regsPerBlock = properties->regsPerMultiprocessor = tilestep::kRegisters;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = tilestep::kThreadsPerBlock;
  properties->maxThreadsPerMultiProcessor = tilestep::kThreadsPerMultiprocessor;
  properties->maxBlocksPerMultiProcessor = tilestep::kBlocksPerMultiprocessor;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = tilestep::kThreadsPerBlock;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7fffffff;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = 9;
  properties->multiProcessorCount = tilestep::kMultiprocessors;
  properties->l2CacheSize = tilestep::kL2Bytes;
  return cudaSuccess;
}
