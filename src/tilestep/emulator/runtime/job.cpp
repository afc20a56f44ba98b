#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"
#include "result.h"

namespace tilestep {

static bool is(const char* word, const char* name) { return strcmp(word, name) == 0; }

static void read_mode(Job& job, const char* word) {
  if (is(word, "fast")) job.mode = Mode::fast;
  else if (is(word, "record")) job.mode = Mode::record;
  else if (is(word, "check")) job.mode = Mode::check;
  else if (is(word, "traffic")) job.mode = Mode::traffic;
  else if (is(word, "watch")) job.mode = Mode::watch;
  else give_up("job: unknown mode");
  const bool fits = job.mode == Mode::record ? kRecording : job.mode == Mode::fast ? !kRecording && !kChecked : kChecked;
  if (!fits) give_up("job: this executable was not built for its mode");
}

static void read_order(Job& job, const char* rest) {
  char word[32];
  unsigned long long seed = 1;
  if (sscanf(rest, "%31s %llu", word, &seed) < 1) give_up("job: order needs a name");
  job.seed = seed;
  if (is(word, "forward")) job.order = ThreadOrder::forward;
  else if (is(word, "reverse")) job.order = ThreadOrder::reverse;
  else if (is(word, "random")) job.order = ThreadOrder::random;
  else give_up("job: unknown order");
}

static void read_buffer(Job& job, const char* rest) {
  if (job.buffer_count == kMaxJobBuffers) give_up("job: too many buffers");
  JobBuffer& buffer = job.buffers[job.buffer_count++];
  char role[8];
  unsigned long long rows = 0, width = 0;
  if (sscanf(rest, "%63s %7s %llu %llu %255s", buffer.name, role, &rows, &width, buffer.file) != 5) {
    give_up("job: buffer needs a name, a role, rows, width and a file");
  }
  if (rows > (1ull << 32) || width > (1ull << 20)) give_up("job: a buffer is too large");
  buffer.rows = rows;
  buffer.width = width;
  if (is(role, "in")) buffer.role = Role::in;
  else if (is(role, "out")) buffer.role = Role::out;
  else if (is(role, "inout")) buffer.role = Role::inout;
  else give_up("job: unknown role of a buffer");
}

static void read_range(Job& job, const char* rest) {
  char buffer_name[64], range_name[16];
  unsigned begin = 0, end = 0;
  if (sscanf(rest, "%63s %15s %u %u", buffer_name, range_name, &begin, &end) != 4) {
    give_up("job: range needs a buffer, a name, begin and end");
  }
  for (int i = 0; i < job.buffer_count; ++i) {
    JobBuffer& buffer = job.buffers[i];
    if (!is(buffer.name, buffer_name)) continue;
    if (buffer.range_count == kMaxJobRanges) give_up("job: too many ranges");
    const int r = buffer.range_count++;
    memcpy(buffer.range_names[r], range_name, sizeof range_name);
    buffer.ranges[r] = ColumnRange{buffer.range_names[r], begin, end};
    return;
  }
  give_up("job: a range of a buffer that comes later or never");
}

static void read_watch(Job& job, const char* rest) {
  unsigned long long begin = 0, end = 0;
  if (sscanf(rest, "%63s %llu %llu", job.watched, &begin, &end) != 3) give_up("job: watch needs a buffer, begin and end");
  job.watch.buffer = job.watched;
  job.watch.begin = begin;
  job.watch.end = end;
}

static void read_line(Job& job, const char* word, const char* rest) {
  if (is(word, "mode")) {
    char mode_name[16];
    if (sscanf(rest, "%15s", mode_name) != 1) give_up("job: mode needs a name");
    read_mode(job, mode_name);
  } else if (is(word, "threads")) {
    job.threads = atoi(rest);
    if (job.threads < 1) job.threads = 1;
  } else if (is(word, "order")) {
    read_order(job, rest);
  } else if (is(word, "budget")) {
    job.budget = strtoull(rest, nullptr, 10);
  } else if (is(word, "timeout")) {
    job.timeout = strtod(rest, nullptr);
  } else if (is(word, "scratch")) {
    job.scratch = strtoull(rest, nullptr, 10);
  } else if (is(word, "buffer")) {
    read_buffer(job, rest);
  } else if (is(word, "range")) {
    read_range(job, rest);
  } else if (is(word, "watch")) {
    read_watch(job, rest);
  } else if (is(word, "sample")) {
    job.watch.sample = strtoull(rest, nullptr, 10);
  } else if (is(word, "size")) {
    if (job.size_count == kMaxJobSizes) give_up("job: too many sizes");
    job.sizes[job.size_count++] = atoi(rest);
  } else {
    give_up("job: unknown item");
  }
}

void read_job(const char* path, Job& job) {
  FILE* file = fopen(path, "re");
  if (!file) give_up("cannot open the job file");
  job.threads = 1;
  job.seed = 1;
  char line[1024];
  while (fgets(line, sizeof line, file)) {
    char word[32];
    int length = 0;
    if (sscanf(line, "%31s%n", word, &length) == 1) read_line(job, word, line + length);
  }
  fclose(file);
}

}  // namespace tilestep
