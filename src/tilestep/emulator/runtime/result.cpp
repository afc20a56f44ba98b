#include "result.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern "C" __attribute__((noinline)) void tilestep_anchor() { asm volatile(""); }

namespace tilestep {

static int result_file = -1;
static size_t bytes_written;

size_t result_bytes() { return bytes_written; }

void open_result(const char* path) {
  result_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (result_file < 0) give_up("cannot open the result file");
}

JsonLine::JsonLine(const char* event) {
  raw("{\"event\":");
  quoted(event);
}

void JsonLine::character(char c) {
  if (size_ < kRoom) line_[size_++] = c;
}

void JsonLine::raw(const char* text) {
  for (; *text; ++text) character(*text);
}

void JsonLine::quoted(const char* text) {
  character('"');
  for (int length = 0; *text; ++text, ++length) {
    const unsigned char c = static_cast<unsigned char>(*text);
    if (length >= 300 && (c & 0xc0) != 0x80) break;  // between two characters of UTF-8
    if (c == '"' || c == '\\') {
      character('\\');
      character(char(c));
    } else {
      character(c < 32 ? ' ' : char(c));
    }
  }
  character('"');
}

void JsonLine::integer(int64_t value) {
  char digits[24];
  int count = 0;
  uint64_t rest = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
  do digits[count++] = char('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) character('-');
  while (count > 0) character(digits[--count]);
}

void JsonLine::key(const char* name) {
  character(',');
  quoted(name);
  character(':');
}

JsonLine& JsonLine::text(const char* name, const char* value) {
  if (!value) return nothing(name);
  key(name);
  quoted(value);
  return *this;
}

JsonLine& JsonLine::number(const char* name, int64_t value) {
  key(name);
  integer(value);
  return *this;
}

JsonLine& JsonLine::seconds(const char* name, double value) {
  key(name);
  const int64_t microseconds = int64_t(value * 1e6);
  integer(microseconds / 1000000);
  character('.');
  for (int64_t unit = 100000, rest = microseconds % 1000000; unit > 0; unit /= 10) {
    character(char('0' + rest / unit % 10));
  }
  return *this;
}

JsonLine& JsonLine::triple(const char* name, const uint3& value) {
  key(name);
  character('[');
  integer(value.x);
  character(',');
  integer(value.y);
  character(',');
  integer(value.z);
  character(']');
  return *this;
}

JsonLine& JsonLine::nothing(const char* name) {
  key(name);
  raw("null");
  return *this;
}

JsonLine& JsonLine::code_address(const char* name, uintptr_t pc) {
  if (pc == 0) return nothing(name);
  return number(name, int64_t(pc - reinterpret_cast<uintptr_t>(&tilestep_anchor)));
}

JsonLine& JsonLine::code_addresses(const char* name, const uintptr_t* pcs, int count) {
  key(name);
  character('[');
  for (int i = 0; i < count; ++i) {
    if (i > 0) character(',');
    integer(int64_t(pcs[i] - reinterpret_cast<uintptr_t>(&tilestep_anchor)));
  }
  character(']');
  return *this;
}

void JsonLine::write() {
  line_[size_++] = '}';
  line_[size_++] = '\n';
  if (result_file < 0) return;
  __atomic_fetch_add(&bytes_written, size_, __ATOMIC_RELAXED);
  for (size_t done = 0; done < size_;) {
    const ssize_t n = ::write(result_file, line_ + done, size_ - done);
    if (n <= 0) return;
    done += size_t(n);
  }
}

void give_up(const char* why) {
  JsonLine("failed").text("why", why).write();
  dprintf(2, "tilestep worker: %s\n", why);
  _exit(2);
}

}  // namespace tilestep
