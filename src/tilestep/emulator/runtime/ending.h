// The ways in which a run ends before its time. All of them write what is known and leave at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilestep {

// A checker has reported something after which the access must not happen, or a thread cannot go on.
[[noreturn]] void stop_after_finding(uintptr_t pc, uintptr_t address);

// The seam did what a seam may not. `call` and `line` may be nullptr and 0; `bytes` is written for scratch only.
[[noreturn]] void refuse(const char* why, const char* call, int line, uintptr_t pc, size_t bytes);
// The seam asks for more than a plan holds; `most` is how much that is.
[[noreturn]] void refuse_length(const char* why, const char* call, int line, uintptr_t pc, size_t most);

// From now on, until the seam has returned, a touch of the arena is host code reading device memory.
void expect_host_code(bool expected);

void install_signal_handlers(double timeout_seconds);
// Signals need a stack of their own on each OS thread: the usual one may be what has overflowed.
void use_signal_stack();

}  // namespace tilestep
