// Errors of the host API: their names, their sentences, and the last one.
#pragma once

#include "host_types.h"

inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define TILESTEP_NAME(name) \
  case name:                \
    return #name;
    TILESTEP_NAME(cudaSuccess)
    TILESTEP_NAME(cudaErrorInvalidValue)
    TILESTEP_NAME(cudaErrorMemoryAllocation)
    TILESTEP_NAME(cudaErrorInitializationError)
    TILESTEP_NAME(cudaErrorInvalidConfiguration)
    TILESTEP_NAME(cudaErrorInvalidPitchValue)
    TILESTEP_NAME(cudaErrorInvalidSymbol)
    TILESTEP_NAME(cudaErrorInvalidDevicePointer)
    TILESTEP_NAME(cudaErrorInvalidMemcpyDirection)
    TILESTEP_NAME(cudaErrorInvalidDeviceFunction)
    TILESTEP_NAME(cudaErrorNoDevice)
    TILESTEP_NAME(cudaErrorInvalidDevice)
    TILESTEP_NAME(cudaErrorInvalidResourceHandle)
    TILESTEP_NAME(cudaErrorNotReady)
    TILESTEP_NAME(cudaErrorIllegalAddress)
    TILESTEP_NAME(cudaErrorLaunchOutOfResources)
    TILESTEP_NAME(cudaErrorLaunchFailure)
    TILESTEP_NAME(cudaErrorNotSupported)
    TILESTEP_NAME(cudaErrorUnknown)
#undef TILESTEP_NAME
  }
  return "unrecognized error code";
}

inline const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidSymbol:
      return "invalid device symbol";
    case cudaErrorInvalidDeviceFunction:
      return "invalid device function";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorLaunchOutOfResources:
      return "too many resources requested for launch";
    default:
      return cudaGetErrorName(error);
  }
}

inline cudaError_t cudaPeekAtLastError() { return tilestep::last_error; }
inline cudaError_t cudaGetLastError() {
  const cudaError_t error = tilestep::last_error;
  tilestep::last_error = cudaSuccess;
  return error;
}
