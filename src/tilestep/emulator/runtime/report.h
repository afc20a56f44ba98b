// What the worker tells the judge: one JSON object a line, written to the result file at once, so that a crash
// keeps everything that came before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events.h"

namespace tilestep {

struct Finding {
  const char* code = nullptr;   // a code of tilestep/findings.py
  const char* array = nullptr;  // name, or nullptr
  int64_t element = -1;         // byte offset into the array, or -1
  uintptr_t pc = 0;             // where, in the submission
  uintptr_t other_pc = 0;       // the other access of a race, or 0
  uint32_t thread = UINT32_MAX, other_thread = UINT32_MAX;  // linear in the block; UINT32_MAX when unknown
  uint64_t block = UINT64_MAX, other_block = UINT64_MAX;    // linear in the grid; UINT64_MAX when unknown
  const char* detail = nullptr;  // one word or number more for the sentence, or nullptr ("read-write", "49153", ...)
};

// Findings are merged by (code, pc, array): the first is written at once, the count of each at the end of the run.
void report(const Finding& finding);
bool any_finding();

}  // namespace tilestep
