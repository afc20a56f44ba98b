// Where a thread stands, and what synchronises its block.
#pragma once

#include "abi.h"

// Macros, because the machine's names must not shadow members that a submission calls threadIdx.
#if defined(TILESTEP_CHECKED) && defined(__clang__)

// g++ knows that a constant needs no hook; clang does not where the constant is thread-local. What stays the same for
// the life of a CUDA thread may be taken out of loops, so these functions have no effects and depend on nothing.
namespace tilestep {
#define TILESTEP_WHO(name, variable) \
  __attribute__((const, noinline, no_sanitize("thread"))) inline uint3 name() { return variable; }
TILESTEP_WHO(own_thread, tilestep_thread_idx)
TILESTEP_WHO(own_block, tilestep_block_idx)
TILESTEP_WHO(block_shape, tilestep_block_dim)
TILESTEP_WHO(grid_shape, tilestep_grid_dim)
#undef TILESTEP_WHO
}  // namespace tilestep
#define threadIdx (tilestep::own_thread())
#define blockIdx (tilestep::own_block())
#define blockDim (tilestep::block_shape())
#define gridDim (tilestep::grid_shape())

#else

#define threadIdx tilestep_thread_idx
#define blockIdx tilestep_block_idx
#define blockDim tilestep_block_dim
#define gridDim tilestep_grid_dim

#endif

constexpr int warpSize = 32;

TILESTEP_INLINE void __syncthreads() { tilestep_barrier(); }
TILESTEP_INLINE int __syncthreads_or(int predicate) { return tilestep_barrier_reduce(predicate, 0); }
TILESTEP_INLINE int __syncthreads_and(int predicate) { return tilestep_barrier_reduce(predicate, 1); }
TILESTEP_INLINE int __syncthreads_count(int predicate) { return tilestep_barrier_reduce(predicate, 2); }

// Fences order nothing here that is not ordered already: a thread's accesses happen one after another, at once seen
// by all. They are no barriers either. But what a thread did before a fence of the device it can publish to other
// blocks with an atomic, and the race checker is told so.
TILESTEP_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __nanosleep(unsigned) {}

TILESTEP_INLINE long long clock64() { return tilestep_clock(); }

TILESTEP_INLINE void __trap() { tilestep_trap("__trap()", "", 0); }
