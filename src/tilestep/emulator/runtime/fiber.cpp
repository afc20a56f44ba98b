#include "fiber.h"

#include <sys/mman.h>

#include "result.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace tilestep {

unsigned char* reserve_stacks(size_t count) {
  void* memory =
      mmap(nullptr, count * kStackStride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) give_up("no address space for the threads' stacks");
  return static_cast<unsigned char*>(memory);
}

void make_fiber(Fiber& fiber, unsigned char* stacks, size_t index, void (*entry)()) {
  unsigned char* low = stacks + index * kStackStride + kStackGuardBytes;
  if (mprotect(low, kStackBytes, PROT_READ | PROT_WRITE) != 0) give_up("no memory for a thread's stack");
  fiber.stack_low = reinterpret_cast<uintptr_t>(low);
  // All stacks lie a power of two apart, so their tops would fight for the same few cache lines: stagger them.
  const size_t stagger = (index % 29) * 128;
  unsigned char* top = low + kStackBytes - stagger - 64;
  top -= kEntryStackOffset;
  fiber.context.stack = top;
  fiber.context.resume = reinterpret_cast<void*>(entry);
  fiber.context.frame = nullptr;
  if (kEntryStackOffset != 0) *reinterpret_cast<void**>(top) = nullptr;  // a return address for who walks the stack
}

}  // namespace tilestep
