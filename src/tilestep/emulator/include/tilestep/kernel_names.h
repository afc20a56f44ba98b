// Which address a launch means, when all that is known is how the submission spells the kernel.
//
// A launch names a kernel in any way that overload resolution accepts, so its address cannot be taken in general;
// cudaFuncSetAttribute gets an address. Both are written in the same file, so their spelling joins them.
#pragma once

#include <cstring>

#include "abi.h"

namespace tilestep {

struct NamedKernel {
  char spelling[160];
  const void* function;
};

constexpr int kNamedKernels = 64;
inline NamedKernel named_kernels[kNamedKernels];
inline int named_kernel_count = 0;

// Drops blanks, leading casts in parentheses, '&' and '::': `(const void*) attend< 64 >` becomes `attend<64>`.
inline void normalise_spelling(const char* text, char (&out)[160]) {
  for (const char* c = text; *c;) {
    while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '&' || *c == ':') ++c;
    if (*c != '(') {
      text = c;
      break;
    }
    const char* close = c;  // a cast is a parenthesis that something follows
    for (int depth = 0; *close; ++close) {
      depth += *close == '(' ? 1 : *close == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    const char* after = *close ? close + 1 : close;
    while (*after == ' ') ++after;
    text = c = *after && *after != ')' ? after : c + 1;
  }
  unsigned length = 0;
  for (; *text && length + 1 < sizeof out; ++text) {
    if (*text != ' ' && *text != '\t' && *text != '\n' && *text != ')') out[length++] = *text;
  }
  out[length] = 0;
}

inline void name_kernel(const char* text, const void* function) {
  if (named_kernel_count == kNamedKernels) return;
  NamedKernel& entry = named_kernels[named_kernel_count];
  normalise_spelling(text, entry.spelling);
  entry.function = function;
  for (int i = named_kernel_count - 1; i >= 0; --i) {
    if (std::strcmp(named_kernels[i].spelling, entry.spelling) != 0) continue;
    if (named_kernels[i].function == function) return;  // known, as in a seam that asks before every launch
    break;
  }
  ++named_kernel_count;
}

// The same spelling first; else the same name before '<', for attend<64> beside attend<DH>; else nullptr.
inline const void* function_of_kernel(const char* text) {
  char spelling[160];
  normalise_spelling(text, spelling);
  for (int i = named_kernel_count - 1; i >= 0; --i) {
    if (std::strcmp(spelling, named_kernels[i].spelling) == 0) return named_kernels[i].function;
  }
  const size_t stem = std::strcspn(spelling, "<");
  for (int i = named_kernel_count - 1; i >= 0; --i) {
    const char* other = named_kernels[i].spelling;
    if (std::strcspn(other, "<") == stem && std::strncmp(spelling, other, stem) == 0) return named_kernels[i].function;
  }
  return nullptr;
}

}  // namespace tilestep
