// Files of the run's folder, read and written whole. What fails ends the process: the worker cannot go on.
#pragma once

#include <cstddef>

namespace tilestep {

// Fills `bytes` bytes from the file's start; a longer file is no fault.
void read_file(const char* path, void* to, size_t bytes);
void write_file(const char* path, const void* from, size_t bytes);

}  // namespace tilestep
