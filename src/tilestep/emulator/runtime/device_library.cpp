// The few functions that device code calls by CUDA's rules: printf, assert and traps, the clock.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"
#include "machine.h"
#include "report.h"

namespace tilestep {

constexpr size_t kPrintBytes = 64 * 1024;  // of one run; the rest is dropped, with a note
static size_t printed;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

static void print(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t n = write(1, text, size);
    if (n <= 0) return;
    text += n;
    size -= size_t(n);
  }
}

}  // namespace tilestep

using namespace tilestep;

extern "C" int tilestep_printf(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) return length;
  const size_t size = size_t(length) < sizeof text ? size_t(length) : sizeof text - 1;
  pthread_mutex_lock(&print_lock);
  if (printed <= kPrintBytes && printed + size > kPrintBytes) {
    static const char note[] = "\n(the rest of what the kernels print is dropped)\n";
    print(note, sizeof note - 1);
    printed = kPrintBytes + 1;
  } else if (printed <= kPrintBytes) {
    print(text, size);
    printed += size;
  }
  pthread_mutex_unlock(&print_lock);
  return length;
}

extern "C" void tilestep_trap(const char* what, const char*, int) {
  Finding finding;
  finding.code = "assert-failed";
  finding.pc = TILESTEP_CALLER;
  finding.thread = machine ? machine->current : UINT32_MAX;
  finding.block = machine ? machine->block.linear : UINT64_MAX;
  finding.detail = what;
  report(finding);
  stop_after_finding(finding.pc, 0);
}

extern "C" long long tilestep_clock() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
