// The job file: what one run is fed, and what it may use. One item a line, words separated by spaces.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine.h"
#include "memory.h"
#include "watch.h"

namespace tilestep {

constexpr int kMaxJobBuffers = 32, kMaxJobRanges = 16, kMaxJobSizes = 16;

enum class Role : uint8_t { in, out, inout };

struct JobBuffer {
  char name[64];
  Role role;
  uint64_t rows, width;  // float32, row-major
  char file[256];        // "-" for none
  ColumnRange ranges[kMaxJobRanges];
  char range_names[kMaxJobRanges][16];
  int range_count;

  size_t bytes() const { return size_t(rows * width * sizeof(float)); }
};

struct Job {
  Mode mode;
  int threads;
  ThreadOrder order;
  uint64_t seed;
  uint64_t budget;
  double timeout;
  uint64_t scratch;
  JobBuffer buffers[kMaxJobBuffers];
  int buffer_count;
  int sizes[kMaxJobSizes];
  int size_count;
  WatchOrder watch;
  char watched[64];
};

// Ends the process if the file cannot be understood.
void read_job(const char* path, Job& job);

}  // namespace tilestep
