// The worker: one run of a submission, in the current folder, as a job file asks for it.
//
//   worker job.txt      writes result.jsonl, and out.NAME.bin for every buffer when the run has finished
//
// Exit status: 0 finished or refused, 2 the worker's own failure, 3 crashed, 4 out of time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "arena.h"
#include "ending.h"
#include "job.h"
#include "plan.h"
#include "record.h"
#include "recorded.h"
#include "reporting.h"
#include "result.h"
#include "watch.h"
#include "whole_files.h"

namespace tilestep {

static Job job;

static double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static void map_buffers(void** pointers, void** pristine) {
  size_t total = 0;
  for (int i = 0; i < job.buffer_count; ++i) total += job.buffers[i].bytes();
  reserve_arena(total, job.buffer_count, job.scratch);
  for (int i = 0; i < job.buffer_count; ++i) {
    const JobBuffer& wanted = job.buffers[i];
    Buffer& buffer = add_buffer(wanted.name, wanted.bytes());
    buffer.is_input = wanted.role == Role::in;
    buffer.initialised = wanted.role != Role::out;
    buffer.row_bytes = uint32_t(wanted.width * sizeof(float));
    buffer.ranges = wanted.ranges;
    buffer.range_count = wanted.range_count;
    pointers[i] = reinterpret_cast<void*>(buffer.begin);
    pristine[i] = nullptr;
    if (strcmp(wanted.file, "-") != 0) read_file(wanted.file, pointers[i], wanted.bytes());
    if (buffer.is_input) {
      pristine[i] = malloc(wanted.bytes() + 1);
      if (!pristine[i]) give_up("no memory for a copy of an input");
      memcpy(pristine[i], pointers[i], wanted.bytes());
    }
  }
}

static void verify_inputs(void* const* pointers, void* const* pristine) {
  for (int i = 0; i < job.buffer_count; ++i) {
    const size_t bytes = job.buffers[i].bytes();
    if (!pristine[i] || memcmp(pointers[i], pristine[i], bytes) == 0) continue;
    if (reported("input-written", job.buffers[i].name)) continue;  // and that one names the line
    size_t at = 0;
    while (static_cast<unsigned char*>(pointers[i])[at] == static_cast<unsigned char*>(pristine[i])[at]) ++at;
    Finding finding;
    finding.code = "input-written";
    finding.array = job.buffers[i].name;
    finding.element = int64_t(at);
    report(finding);
  }
}

static int run(const char* job_path) {
  open_result("result.jsonl");
  read_job(job_path, job);
  mode = job.mode;
  void* pointers[kMaxJobBuffers];
  void* pristine[kMaxJobBuffers];
  map_buffers(pointers, pristine);
  allow_scratch(job.scratch);
  set_access_budget(job.budget);
  make_machine();
  install_signal_handlers(job.timeout);

  close_arena();
  expect_host_code(true);
  tilestep_seam(pointers, job.sizes);
  expect_host_code(false);
  write_variables();
  if (mode == Mode::record) {
    JsonLine("done").seconds("seconds", 0).number("accesses", 0).write();
    _exit(0);
  }
  open_arena();

  choose_granule();
  if (watching()) begin_watching(job.watch);
  const double begin = now();
  execute_plan(Execution{job.threads, job.order, job.seed});
  const double seconds = now() - begin;

  verify_guards();
  verify_inputs(pointers, pristine);
  write_finding_counts();
  if (mode == Mode::traffic) write_traffic();
  if (watching()) end_watching();
  for (int i = 0; i < job.buffer_count; ++i) {
    char path[80];
    snprintf(path, sizeof path, "out.%s.bin", job.buffers[i].name);
    write_file(path, pointers[i], job.buffers[i].bytes());
  }
  JsonLine("done").seconds("seconds", seconds).number("accesses", int64_t(accesses_so_far())).write();
  fflush(stdout);
  _exit(0);  // the submission's destructors are none of our business
}

}  // namespace tilestep

int main(int count, char** arguments) {
  if (count != 2) {
    dprintf(2, "usage: worker JOB\n");
    return 2;
  }
  return tilestep::run(arguments[1]);
}
