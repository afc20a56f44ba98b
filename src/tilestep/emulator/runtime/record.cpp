// What host code of the seam calls: each request is checked as a GPU would check it, written down, and done later.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "ending.h"
#include "launch_rules.h"
#include "plan.h"
#include "record.h"
#include "recorded.h"
#include "reporting.h"
#include "result.h"

namespace tilestep {

// A plan is read whole, and sent to a GPU in one message. A launch for each row and head of 2048 rows fits.
constexpr size_t kMostItems = 20000;
constexpr size_t kMostBytes = 24 * 1024 * 1024;  // of the result file; its reader takes 32 MB

static size_t scratch_left;

void allow_scratch(size_t bytes) { scratch_left = bytes; }

static void require_room(const char* call, int line, uintptr_t pc) {
  if (planned_items() >= kMostItems) refuse_length("many_items", call, line, pc, kMostItems);
  if (result_bytes() > kMostBytes) refuse_length("many_bytes", call, line, pc, kMostBytes);
}

static void report_refused_launch(const LaunchInfo& info, const char* detail, uintptr_t pc) {
  set_running_launch(&info);
  Finding finding;
  finding.code = "launch-refused";
  finding.pc = pc;
  finding.detail = detail;
  report_at_line(finding, info.line);
  set_running_launch(nullptr);
}

static void write_launch(const LaunchRequest& request) {
  JsonLine("launch")
      .number("index", planned_launches())
      .text("kernel", request.kernel)
      .number("line", request.line)
      .triple("grid", request.grid)
      .triple("block", request.block)
      .number("dynamic_shared", int64_t(request.dynamic_shared))
      .code_address("function", reinterpret_cast<uintptr_t>(request.function))
      .write();
}

static void add_transfer(const PlannedTransfer& transfer) {
  PlanItem item{};
  item.kind = PlanItem::Kind::transfer;
  item.transfer = transfer;
  add_to_plan(item);
}

// What the seam's own memory holds now is what arrives, whatever it does to it afterwards.
static const unsigned char* snapshot(const void* from, size_t bytes) {
  void* copy = malloc(bytes);
  if (!copy) give_up("no memory for a copy from the host");
  memcpy(copy, from, bytes);
  return static_cast<unsigned char*>(copy);
}

static void write_source(uintptr_t from) {
  JsonLine line("source");
  add_place(line, from);
  line.write();
}

static int record_copy(void* to, const void* from, size_t bytes, bool from_host, uintptr_t pc) {
  if (bytes == 0) return kSuccess;
  if (!to || !from || !is_device_memory(reinterpret_cast<uintptr_t>(to), bytes)) return kInvalidValue;
  if (!from_host && !is_device_memory(reinterpret_cast<uintptr_t>(from), bytes)) return kInvalidValue;
  require_room("cudaMemcpy", 0, pc);
  PlannedTransfer transfer{};
  transfer.to = static_cast<unsigned char*>(to);
  transfer.from = from_host ? snapshot(from, bytes) : static_cast<const unsigned char*>(from);
  transfer.bytes = bytes;
  transfer.from_host = from_host;
  add_transfer(transfer);
  JsonLine line("copy");
  line.number("bytes", int64_t(bytes));
  add_place(line, reinterpret_cast<uintptr_t>(to));
  if (kRecording && from_host) line.text("file", save_bytes(from, bytes));
  line.write();
  if (!from_host) write_source(reinterpret_cast<uintptr_t>(from));
  return kSuccess;
}

}  // namespace tilestep

using namespace tilestep;

extern "C" int tilestep_record_launch(const LaunchRequest* request) {
  LaunchInfo info{};
  info.kernel = request->kernel;
  info.line = request->line;
  info.grid = request->grid;
  info.block = request->block;
  info.dynamic_shared = uint32_t(request->dynamic_shared);
  info.index = planned_launches();
  info.asked_shared = dynamic_shared_asked(request->function);

  char detail[160];
  const int error = check_launch(*request, detail, sizeof detail);
  if (error != kSuccess) {
    report_refused_launch(info, detail, TILESTEP_CALLER);
    return error;
  }
  require_room(request->kernel, request->line, TILESTEP_CALLER);
  write_launch(*request);
  PlanItem item{};
  item.kind = PlanItem::Kind::launch;
  item.launch = PlannedLaunch{info, request->invoke, request->closure};
  add_to_plan(item);
  record_kernel(*request, TILESTEP_CALLER);
  return kSuccess;
}

extern "C" void* tilestep_record_malloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > scratch_left) refuse("scratch", "cudaMalloc", 0, TILESTEP_CALLER, bytes);
  void* memory = add_scratch(bytes);
  if (!memory) refuse("scratch", "cudaMalloc", 0, TILESTEP_CALLER, bytes);
  scratch_left -= bytes;
  JsonLine("scratch").number("bytes", int64_t(bytes)).write();
  return memory;
}

// The plan still uses it, so nothing is given back.
extern "C" int tilestep_record_free(void* pointer) {
  if (!pointer) return kSuccess;
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  const Buffer* buffer = find_buffer(address);
  return buffer && buffer->begin == address && strncmp(buffer->name, "scratch ", 8) == 0 ? kSuccess : kInvalidValue;
}

extern "C" int tilestep_record_memset(void* to, int value, size_t bytes) {
  if (bytes == 0) return kSuccess;
  if (!is_device_memory(reinterpret_cast<uintptr_t>(to), bytes)) return kInvalidValue;
  require_room("cudaMemset", 0, TILESTEP_CALLER);
  PlannedTransfer transfer{};
  transfer.to = static_cast<unsigned char*>(to);
  transfer.bytes = bytes;
  transfer.value = value;
  add_transfer(transfer);
  JsonLine line("memset");
  line.number("bytes", int64_t(bytes)).number("value", value & 0xff);
  add_place(line, reinterpret_cast<uintptr_t>(to));
  line.write();
  return kSuccess;
}

extern "C" int tilestep_record_copy(void* to, const void* from, size_t bytes, bool from_host) {
  return record_copy(to, from, bytes, from_host, TILESTEP_CALLER);
}

extern "C" int tilestep_record_symbol_copy(void* symbol, const void* from, size_t bytes, bool from_host) {
  return record_copy(symbol, from, bytes, from_host, TILESTEP_CALLER);
}

extern "C" int tilestep_record_shared_limit(const void* function, int bytes) {
  const int64_t before = dynamic_shared_asked(function);
  const int error = set_dynamic_shared_limit(function, bytes);
  // What a GPU makes of it depends on the kernel's own arrays, so the card is asked the same at the replay.
  if (kRecording && error == kSuccess && before != bytes) {
    JsonLine("shared-limit")
        .code_address("function", reinterpret_cast<uintptr_t>(function))
        .number("bytes", bytes)
        .write();
  }
  return error;
}

extern "C" void tilestep_record_forbidden(int what, const char* call, int line) {
  static const char* const reasons[] = {"read_back", "synchronise", "stream", "event", "managed_memory",
                                        "host_function"};
  refuse(reasons[what], call, line, TILESTEP_CALLER, 0);
}
