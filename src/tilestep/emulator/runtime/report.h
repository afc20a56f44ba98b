// What the worker tells the judge: one JSON object a line, written to the result file at once, so that a crash
// keeps everything that came before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events.h"

namespace tilestep {

struct Finding {
  const char* code;        // a code of tilestep/findings.py
  const char* array;       // name, or nullptr
  int64_t element;         // byte offset into the array, or -1
  uintptr_t pc;            // where, in the submission
  uintptr_t other_pc;      // the other access of a race, or 0
  uint32_t thread, other_thread;  // linear in the block; UINT32_MAX when unknown
  uint64_t block, other_block;    // linear in the grid; UINT64_MAX when unknown
  const char* detail;      // one word or number more for the sentence, or nullptr ("read-write", "49153", ...)
};

// Findings are merged by (code, pc, array): the first is written at once, the count of each at the end of the run.
void report(const Finding& finding);
bool any_finding();

}  // namespace tilestep
