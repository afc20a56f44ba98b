// Calls that a seam may not make: it only describes work, and runs before any of it does. Each ends the run with a
// sentence at its own line, or does not compile where nothing sensible could be recorded.
#pragma once

#include "host_memory.h"

#define TILESTEP_FORBIDDEN(what, name, ...)                                            \
  TILESTEP_INLINE cudaError_t name(__VA_ARGS__ int line = __builtin_LINE()) {          \
    tilestep::forbid(tilestep::Forbidden::what, #name, line);                          \
    return cudaSuccess;                                                                \
  }
#define TILESTEP_AND ,

TILESTEP_FORBIDDEN(synchronise, cudaDeviceSynchronize)
TILESTEP_FORBIDDEN(synchronise, cudaThreadSynchronize)
TILESTEP_FORBIDDEN(synchronise, cudaDeviceReset)
TILESTEP_FORBIDDEN(synchronise, cudaStreamSynchronize, cudaStream_t TILESTEP_AND)
TILESTEP_FORBIDDEN(synchronise, cudaStreamQuery, cudaStream_t TILESTEP_AND)
TILESTEP_FORBIDDEN(synchronise, cudaEventSynchronize, cudaEvent_t TILESTEP_AND)
TILESTEP_FORBIDDEN(stream, cudaStreamCreate, cudaStream_t* TILESTEP_AND)
TILESTEP_FORBIDDEN(stream, cudaStreamCreateWithFlags, cudaStream_t* TILESTEP_AND unsigned TILESTEP_AND)
TILESTEP_FORBIDDEN(stream, cudaStreamCreateWithPriority, cudaStream_t* TILESTEP_AND unsigned TILESTEP_AND int TILESTEP_AND)
TILESTEP_FORBIDDEN(stream, cudaStreamDestroy, cudaStream_t TILESTEP_AND)
TILESTEP_FORBIDDEN(stream, cudaStreamWaitEvent, cudaStream_t TILESTEP_AND cudaEvent_t TILESTEP_AND unsigned = 0 TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventCreate, cudaEvent_t* TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventCreateWithFlags, cudaEvent_t* TILESTEP_AND unsigned TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventRecord, cudaEvent_t TILESTEP_AND cudaStream_t = nullptr TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventQuery, cudaEvent_t TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventElapsedTime, float* TILESTEP_AND cudaEvent_t TILESTEP_AND cudaEvent_t TILESTEP_AND)
TILESTEP_FORBIDDEN(event, cudaEventDestroy, cudaEvent_t TILESTEP_AND)
TILESTEP_FORBIDDEN(managed_memory, cudaFreeHost, void* TILESTEP_AND)
TILESTEP_FORBIDDEN(managed_memory, cudaHostRegister, void* TILESTEP_AND size_t TILESTEP_AND unsigned TILESTEP_AND)

#undef TILESTEP_AND
#undef TILESTEP_FORBIDDEN

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2;
constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;

template <class T>
TILESTEP_INLINE cudaError_t cudaMallocManaged(T**, size_t, unsigned = cudaMemAttachGlobal, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::managed_memory, "cudaMallocManaged", line);
  return cudaSuccess;
}
template <class T>
TILESTEP_INLINE cudaError_t cudaMallocHost(T**, size_t, unsigned = 0, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::managed_memory, "cudaMallocHost", line);
  return cudaSuccess;
}
template <class T>
TILESTEP_INLINE cudaError_t cudaHostAlloc(T**, size_t, unsigned, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::managed_memory, "cudaHostAlloc", line);
  return cudaSuccess;
}
TILESTEP_INLINE cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::host_function, "cudaLaunchHostFunc", line);
  return cudaSuccess;
}
template <class Callback>
TILESTEP_INLINE cudaError_t cudaStreamAddCallback(cudaStream_t, Callback, void*, unsigned, int line = __builtin_LINE()) {
  tilestep::forbid(tilestep::Forbidden::host_function, "cudaStreamAddCallback", line);
  return cudaSuccess;
}

template <class... Any>
TILESTEP_UNAVAILABLE("cudaLaunchKernel is not run by the emulator, which also records a GPU's launches; launch with kernel<<<grid, block, shared>>>(...)")
cudaError_t cudaLaunchKernel(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("cudaLaunchKernelEx is not run by the emulator, which also records a GPU's launches; launch with kernel<<<grid, block, shared>>>(...)")
cudaError_t cudaLaunchKernelEx(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("cooperative launches are not run by the emulator, which also records a GPU's launches: its blocks run one after the other")
cudaError_t cudaLaunchCooperativeKernel(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("CUDA graphs are not run by the emulator, which also records a GPU's launches; launch with kernel<<<grid, block, shared>>>(...)")
cudaError_t cudaGraphLaunch(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("CUDA graphs are not run by the emulator, which also records a GPU's launches; launch with kernel<<<grid, block, shared>>>(...)")
cudaError_t cudaStreamBeginCapture(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("textures are not run by the emulator, which also records a GPU's launches; read the buffer through its pointer")
cudaError_t cudaCreateTextureObject(Any&&...);
template <class T, class... Any>
TILESTEP_UNAVAILABLE("textures are not run by the emulator, which also records a GPU's launches; read the buffer through its pointer")
T tex1Dfetch(Any&&...);
template <class T, class... Any>
TILESTEP_UNAVAILABLE("textures are not run by the emulator, which also records a GPU's launches; read the buffer through its pointer")
T tex2D(Any&&...);
