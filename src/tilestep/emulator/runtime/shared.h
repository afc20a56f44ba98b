// The block's shared segment: static arrays from the front, each with a gap before it, dynamic memory at the end.
//
// Where a static array lies is found out when a thread first reaches its declaration, and then holds for the launch,
// on every OS thread.
#pragma once

#include "machine.h"

namespace tilestep {

unsigned char* make_shared_segment();
// Forgets the arrays of the launch before.
void begin_shared_layout(LaunchInfo& launch);
uint32_t dynamic_shared_offset(uint32_t dynamic_bytes);
// A block starts with shared memory that holds nothing: all bits set.
void poison_shared(Machine& m);

}  // namespace tilestep
