// How a call ends the run: the machine writes down what was asked for, at the line that asked.
#pragma once

#include "host_types.h"

namespace tilestep {

TILESTEP_INLINE void forbid(Forbidden what, const char* call, int line) { tilestep_record_forbidden(int(what), call, line); }

// Only the default stream exists, under its three names, so order is the order of the calls.
TILESTEP_INLINE void require_default_stream(cudaStream_t stream, const char* call, int line) {
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread) {
    forbid(Forbidden::stream, call, line);
  }
}

}  // namespace tilestep
