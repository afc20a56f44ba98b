// What a submission's translation unit and the emulator's runtime share: plain C linkage, no library types.
//
// The headers beside this one give CUDA's names to these calls. Every wrapper around a call that takes part in
// a barrier, a warp exchange, an atomic or a copy is always inlined, so that the runtime's return address is a
// line of the submission.
#pragma once

#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define TILESTEP_INLINE inline __attribute__((always_inline))

// A call at which threads meet must stay one call: a copy of it in another branch would look like another barrier.
// Flags of the checked build tell g++, and clang about functions that contain one.
#ifdef __clang__
#define TILESTEP_MEETS __attribute__((convergent))
#else
#define TILESTEP_MEETS
#endif

namespace tilestep {

// One recorded launch. `invoke(closure)` runs the kernel body once, as the thread that the machine has made current.
struct LaunchRequest {
  const char* kernel;  // as the submission writes it
  int line;
  uint3 grid, block;
  size_t dynamic_shared;
  const void* stream;
  const void* function;  // address of the kernel where it can be taken, else nullptr
  void (*invoke)(void* closure);
  void* closure;  // copied arguments; lives until the process ends
};

// A `__shared__` declaration: one site for each function (template instantiation) that holds it.
struct SharedSite {
  const char* name;
  int line;
  unsigned size, alignment;
  unsigned row_bytes;   // of the innermost dimension, 0 for no array
  unsigned offset;      // in the block's shared segment; set by the runtime
  unsigned generation;  // the launch that set it
};

// A `__device__` or `__constant__` variable of namespace scope.
struct DeviceVariable {
  const char* name;
  int line;
  void* address;
  size_t size;
  bool constant;
  DeviceVariable* next;
};

enum class AtomicOp : int { add, sub, exchange, minimum, maximum, increment, decrement, bit_and, bit_or, bit_xor, compare_and_swap };
enum class AtomicType : int { i32, u32, f32, i64, u64, f64, f16x2, bf16x2, f16, bf16, u16 };

// Why a seam is refused; the runtime writes the sentence and ends the process.
enum class Forbidden : int { read_back, synchronise, stream, event, managed_memory, host_function };

}  // namespace tilestep

extern "C" {

// Who the running thread is. Declared const: constant for the life of a CUDA thread, and never instrumented.
extern __thread const uint3 tilestep_thread_idx;
extern __thread const uint3 tilestep_block_idx;
extern __thread const uint3 tilestep_block_dim;
extern __thread const uint3 tilestep_grid_dim;

// --- called by device code ---------------------------------------------------------------------------------
TILESTEP_MEETS void tilestep_barrier();                      // __syncthreads
TILESTEP_MEETS int tilestep_barrier_reduce(int predicate, int operation);  // 0 or, 1 and, 2 count
// Publishes `size` (at most 16) bytes and waits until every live lane of `mask` has done so. Returns 32 slots of 16
// bytes, one a lane, valid until this lane's next exchange.
TILESTEP_MEETS const void* tilestep_warp_exchange(unsigned mask, const void* value, unsigned size);
TILESTEP_MEETS void tilestep_warp_sync(unsigned mask);
TILESTEP_MEETS unsigned tilestep_active_mask();
unsigned tilestep_lane();
// One atomic read-modify-write. Operands and result travel as bits in 64-bit words.
uint64_t tilestep_atomic(void* address, int op, int type, uint64_t operand, uint64_t compare);
void* tilestep_dynamic_shared();                             // start of the block's dynamic shared memory
void* tilestep_static_shared(tilestep::SharedSite* site);    // the block's copy of a __shared__ declaration
void tilestep_memcpy(void* to, const void* from, size_t bytes);
void tilestep_memset(void* to, int value, size_t bytes);
[[noreturn]] void tilestep_trap(const char* what, const char* file, int line);  // assert, __trap
int tilestep_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
long long tilestep_clock();

// --- called by host code, while the seam is recorded ---------------------------------------------------------
int tilestep_record_launch(const tilestep::LaunchRequest* request);  // a cudaError_t
void* tilestep_record_malloc(size_t bytes);
int tilestep_record_free(void* pointer);
int tilestep_record_memset(void* to, int value, size_t bytes);
int tilestep_record_copy(void* to, const void* from, size_t bytes, bool from_host);  // device to device, or an upload
int tilestep_record_symbol_copy(void* symbol, const void* from, size_t bytes, bool from_host);
int tilestep_record_shared_limit(const void* function, int bytes);   // cudaFuncAttributeMaxDynamicSharedMemorySize
[[noreturn]] void tilestep_record_forbidden(int what, const char* call, int line);
// In the build that records: which kernel a launch reached, and each of its arguments.
void tilestep_record_entry();
void tilestep_record_argument(const void* argument, size_t size);
void tilestep_register_variable(tilestep::DeviceVariable* variable);

// --- made by the frontend at the end of every submission ---------------------------------------------------
void tilestep_seam(void* const* pointers, const int* sizes);
}
