// Where a thread stands, and what synchronises its block.
#pragma once

#include "abi.h"

// Macros, because the machine's names must not shadow members that a submission calls threadIdx.
#define threadIdx tilestep_thread_idx
#define blockIdx tilestep_block_idx
#define blockDim tilestep_block_dim
#define gridDim tilestep_grid_dim
constexpr int warpSize = 32;

TILESTEP_INLINE void __syncthreads() { tilestep_barrier(); }
TILESTEP_INLINE int __syncthreads_or(int predicate) { return tilestep_barrier_reduce(predicate, 0); }
TILESTEP_INLINE int __syncthreads_and(int predicate) { return tilestep_barrier_reduce(predicate, 1); }
TILESTEP_INLINE int __syncthreads_count(int predicate) { return tilestep_barrier_reduce(predicate, 2); }

// Fences order nothing here that is not ordered already: a thread's accesses happen one after another, at once seen
// by all. They do not synchronise either, so the race checker does not take them for a barrier.
TILESTEP_INLINE void __threadfence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __threadfence_system() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TILESTEP_INLINE void __nanosleep(unsigned) {}

TILESTEP_INLINE long long clock64() { return tilestep_clock(); }

TILESTEP_INLINE void __trap() { tilestep_trap("__trap()", "", 0); }
