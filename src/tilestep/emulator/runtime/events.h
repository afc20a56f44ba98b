// The events that the machine emits. It knows nothing of bugs: checkers (../checkers) listen.
//
// A listener is a plain class with the functions of `NoListener`. The fast build uses NoListener itself, so the
// calls vanish; the checked build uses `Checkers` (../checkers/checkers.h), which fans out to one class a check.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilestep/abi.h"

namespace tilestep {

enum class Access : uint8_t { read, write, atomic };

enum class Space : uint8_t {
  global,    // in the arena: a seam's buffer, scratch, their guard bands, or the gaps between
  shared,    // in the block's shared segment, static or dynamic
  variable,  // a __device__ variable
  constant,  // a __constant__ variable
};

// The running thread. `linear` counts x fastest, as CUDA numbers lanes.
struct Thread {
  uint32_t linear;
  uint32_t warp, lane;
  uint3 index;
  bool done;
  uintptr_t barrier_pc;  // where it waits, or last waited, for its block
};

struct Block {
  uint64_t linear;
  uint3 index;
  uint32_t threads, warps;
  uint32_t epoch;  // barriers that the whole block has passed in this launch, from 1
};

struct LaunchInfo {
  const char* kernel;
  int line;
  uint3 grid, block;
  uint32_t static_shared, dynamic_shared;  // bytes; static grows as sites are first met
  uint32_t index;                          // in the plan
  int64_t asked_shared;                    // dynamic limit that the seam has set for the kernel, or kNotAsked
};

struct MemoryEvent {
  uintptr_t address;
  uint32_t size;  // bytes; 1 to 16, or more for a range. 2, 4, 8 and 16 must be aligned: a copy, or an access whose type
                  // asks for less alignment, is emitted as aligned pieces
  Access kind;
  Space space;
  uintptr_t pc;  // in the submission
};

// Every function may call report() (report.h). `access` runs before the access itself; returning false means that
// it must not happen, and the machine ends the run.
struct NoListener {
  void launch_begin(const LaunchInfo&) {}
  void block_begin(const Block&) {}
  bool access(const MemoryEvent&, const Thread&, const Block&) { return true; }
  // All live threads have arrived and are about to go on. `threads` holds block.threads entries.
  void block_barrier(const Thread* /*threads*/, const Block&) {}
  // The lanes in `arrived` have met under `mask` (`mask` is what the caller named; some may have exited).
  void warp_rendezvous(uint32_t /*warp*/, uint32_t /*mask*/, uint32_t /*arrived*/, uintptr_t /*pc*/, const Block&) {}
  // A lane called a collective with a mask that does not name itself.
  void mask_without_caller(const Thread&, uint32_t /*mask*/, uintptr_t /*pc*/, const Block&) {}
  // An exchange of values (shuffle, vote; not __syncwarp) took place under a mask that names lanes which had exited.
  void exchange_without(uint32_t /*warp*/, uint32_t /*exited*/, uintptr_t /*pc*/, const Block&) {}
  // A thread has passed a __threadfence() (not __threadfence_block()).
  void fence(const Thread&, const Block&) {}
  void thread_exit(const Thread&, const Block&) {}
  void block_end(const Block&) {}
  void launch_end(const LaunchInfo&) {}
  // A memset or copy of the plan has written this global memory or __device__ variable.
  void memory_written(uintptr_t /*address*/, size_t /*bytes*/) {}
  void run_end() {}
};

}  // namespace tilestep
