// What the rest of the machine needs of the reports beyond report.h.
#pragma once

#include "report.h"

namespace tilestep {

// report() for a finding whose line is known without debug information; 0 if not.
void report_at_line(const Finding& finding, int line);
// Whether a finding of this code has named this array.
bool reported(const char* code, const char* array);
// The count of every finding that was made more than once.
void write_finding_counts();

// The launch that runs, for all OS threads; nullptr between launches.
void set_running_launch(const LaunchInfo* launch);
const LaunchInfo* running_launch();
uint3 block_index_of(uint64_t linear);
uint3 thread_index_of(uint32_t linear);

}  // namespace tilestep
