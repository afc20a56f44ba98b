// Fibers: the stacks that a block's threads run on, and the switch from one to another.
//
// The switch is inlined into whoever waits. It saves three words and tells the compiler that every register is lost,
// so only what is live gets saved; and calls and returns stay paired, which the processor's return prediction needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilestep/abi.h"

namespace tilestep {

constexpr size_t kStackBytes = 64 * 1024;
constexpr size_t kStackGuardBytes = 64 * 1024;  // as much again, so that a large frame does not step over it
constexpr size_t kStackStride = kStackBytes + kStackGuardBytes;

// Where a stack of control stands still: stack pointer, next instruction, frame pointer.
struct Context {
  void* stack;
  void* resume;
  void* frame;
};

#if defined(__x86_64__)

#ifdef __AVX512F__
#define TILESTEP_WIDE_REGISTERS                                                                              \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31"
#else
#define TILESTEP_WIDE_REGISTERS
#endif

TILESTEP_INLINE void switch_context(Context* from, const Context* to) {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %%rax, 8(%0)\n\t"
      "movq %%rbp, 16(%0)\n\t"
      "movq (%1), %%rsp\n\t"
      "movq 16(%1), %%rbp\n\t"
      "jmpq *8(%1)\n"
      "1:\n\t"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15" TILESTEP_WIDE_REGISTERS, "cc", "memory");
}

// A function that is jumped to expects the stack as a call leaves it: 8 bytes off a multiple of 16.
constexpr size_t kEntryStackOffset = 8;

#elif defined(__aarch64__)

#ifdef __APPLE__
#define TILESTEP_PLATFORM_REGISTER  // x18 belongs to the system
#else
#define TILESTEP_PLATFORM_REGISTER , "x18"
#endif

TILESTEP_INLINE void switch_context(Context* from_, const Context* to_) {
  register Context* from asm("x0") = from_;
  register const Context* to asm("x1") = to_;
  asm volatile(
      "adr x16, 1f\n\t"
      "mov x17, sp\n\t"
      "stp x17, x16, [%0]\n\t"
      "str x29, [%0, #16]\n\t"
      "ldp x17, x16, [%1]\n\t"
      "ldr x29, [%1, #16]\n\t"
      "mov sp, x17\n\t"
      "br x16\n"
      "1:\n\t"
      "hint #36\n\t"  // a landing place for the branch, where branch targets are enforced
      : "+r"(from), "+r"(to)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17" TILESTEP_PLATFORM_REGISTER, "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
        "memory");
}

constexpr size_t kEntryStackOffset = 0;

#else
#error "tilestep: fibers need x86-64 or aarch64"
#endif

struct Fiber {
  Context context;
  uintptr_t stack_low;
};

// Address space for `count` stacks, none of which costs memory until it is used. Ends the process on failure.
unsigned char* reserve_stacks(size_t count);
// Makes stack `index` usable and sets `fiber` to start at `entry`, which never returns.
void make_fiber(Fiber& fiber, unsigned char* stacks, size_t index, void (*entry)());

}  // namespace tilestep
