#include "report.h"

#include <pthread.h>
#include <string.h>

#include "reporting.h"
#include "result.h"

namespace tilestep {

// A submission that goes wrong everywhere is understood from far fewer places.
constexpr uint32_t kMaxDistinct = 256, kTable = 1024;

struct Counted {
  const char* code;
  const char* array;
  uintptr_t pc;
  int line;
  uint64_t count;
};

static Counted table[kTable];
static uint32_t distinct;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
// This OS thread is at it: a signal may interrupt it (its stack overflows, say), and must not wait for the lock.
static __thread volatile bool reporting;
static const LaunchInfo* launch_now;

void set_running_launch(const LaunchInfo* launch) { launch_now = launch; }
const LaunchInfo* running_launch() { return launch_now; }

uint3 block_index_of(uint64_t linear) {
  const uint3 grid = launch_now->grid;
  return uint3{unsigned(linear % grid.x), unsigned(linear / grid.x % grid.y), unsigned(linear / grid.x / grid.y)};
}

uint3 thread_index_of(uint32_t linear) {
  const uint3 block = launch_now->block;
  return uint3{linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

static bool same(const char* a, const char* b) { return a == b || (a && b && strcmp(a, b) == 0); }

// The entry for this finding; with count 0 if it is new, nullptr if there is no room for more.
static Counted* find(const Finding& finding, int at_line) {
  uint32_t at = uint32_t((finding.pc * 0x9e3779b97f4a7c15u) >> 32) % kTable;
  for (;; at = (at + 1) % kTable) {
    Counted& entry = table[at];
    if (!entry.code) {
      if (distinct == kMaxDistinct) return nullptr;
      ++distinct;
      entry.code = finding.code;
      entry.array = finding.array;
      entry.pc = finding.pc;
      entry.line = at_line;
      return &entry;
    }
    if (entry.pc == finding.pc && entry.line == at_line && same(entry.code, finding.code) &&
        same(entry.array, finding.array)) {
      return &entry;
    }
  }
}

static void block_key(JsonLine& line, const char* key, uint64_t linear) {
  if (launch_now && linear != UINT64_MAX) line.triple(key, block_index_of(linear));
  else line.nothing(key);
}

static void thread_key(JsonLine& line, const char* key, uint32_t linear) {
  if (launch_now && linear != UINT32_MAX) line.triple(key, thread_index_of(linear));
  else line.nothing(key);
}

static void write_finding(const Finding& finding, int at_line) {
  JsonLine line("finding");
  line.text("code", finding.code);
  line.text("kernel", launch_now ? launch_now->kernel : nullptr);
  line.text("array", finding.array);
  if (finding.element != -1) line.number("element", finding.element);
  else line.nothing("element");
  line.code_address("pc", finding.pc);
  line.code_address("other_pc", finding.other_pc);
  if (at_line > 0) line.number("line", at_line);
  block_key(line, "block", finding.block);
  thread_key(line, "thread", finding.thread);
  block_key(line, "other_block", finding.other_block);
  thread_key(line, "other_thread", finding.other_thread);
  line.text("detail", finding.detail);
  line.number("count", 1);
  line.write();
}

void report_at_line(const Finding& finding, int at_line) {
  const bool nested = reporting;
  reporting = true;
  if (!nested) pthread_mutex_lock(&report_lock);
  Counted* entry = find(finding, at_line);
  if (entry && entry->count++ == 0) write_finding(finding, at_line);
  if (!nested) pthread_mutex_unlock(&report_lock);
  reporting = nested;
}

void report(const Finding& finding) { report_at_line(finding, 0); }

bool any_finding() { return distinct != 0; }

bool reported(const char* code, const char* array) {
  for (const Counted& entry : table) {
    if (entry.code && same(entry.code, code) && same(entry.array, array)) return true;
  }
  return false;
}

void write_finding_counts() {
  for (const Counted& entry : table) {
    if (entry.count < 2) continue;
    JsonLine("finding-count")
        .text("code", entry.code)
        .code_address("pc", entry.pc)
        .text("array", entry.array)
        .number("count", int64_t(entry.count))
        .write();
  }
}

}  // namespace tilestep
