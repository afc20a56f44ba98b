// CUDA's function and variable qualifiers, for one ordinary C++ pass.
//
// There is no separate device pass, so `__CUDA_ARCH__` is defined for the whole file: a `__host__ __device__`
// function takes its device branch, which is the one that is judged.
#pragma once

#include "abi.h"
#include "unavailable.h"

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 900  // Hopper without the arch-specific (sm_90a) features
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000

#define __host__
#define __device__
#define __constant__
#define __global__ __attribute__((noinline))  // a kernel keeps a symbol and a frame of its own
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // empty: the C++ library writes __attribute__((__noinline__)) in its own headers
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __inline_hint__

#define __managed__ static_assert(false, "tilestep: __managed__ memory is not run by the emulator, which also records a GPU's launches; use the buffers of the seam");
#define __cluster_dims__(...) TILESTEP_UNAVAILABLE("thread block clusters are not run by the emulator, which also records a GPU's launches")
