// The result file: one JSON object a line, each written with one system call, so that nothing is lost in a crash.
// Everything here may be called from a signal handler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilestep/abi.h"

namespace tilestep {

void open_result(const char* path);
size_t result_bytes();  // written so far

// One line of the result file: `JsonLine("launch").number("index", 0).write()`. Text that is too long is cut.
class JsonLine {
 public:
  explicit JsonLine(const char* event);
  JsonLine& text(const char* key, const char* value);  // nullptr becomes null
  JsonLine& number(const char* key, int64_t value);
  JsonLine& seconds(const char* key, double value);  // microseconds are kept
  JsonLine& triple(const char* key, const uint3& value);
  JsonLine& nothing(const char* key);
  JsonLine& code_address(const char* key, uintptr_t pc);  // 0 becomes null; else relative to tilestep_anchor
  JsonLine& code_addresses(const char* key, const uintptr_t* pcs, int count);
  void write();

 private:
  void key(const char* name);
  void character(char c);
  void raw(const char* text);
  void quoted(const char* text);
  void integer(int64_t value);

  static constexpr size_t kRoom = 2048;
  char line_[kRoom + 16];
  size_t size_ = 0;
};

// Ends the process because the worker itself cannot go on: an event with the reason, exit status 2.
[[noreturn]] void give_up(const char* why);

}  // namespace tilestep
