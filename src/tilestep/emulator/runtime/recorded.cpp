#include "recorded.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "ending.h"
#include "machine.h"
#include "memory.h"
#include "variables.h"
#include "whole_files.h"

namespace tilestep {

constexpr size_t kPiece = 96;  // bytes of an argument in one line, two digits each

static bool entered;

void add_place(JsonLine& line, uintptr_t address) {
  if (is_near_arena(address)) {
    const Buffer* buffer = nearest_buffer(address);
    if (buffer) line.text("buffer", buffer->name).number("offset", int64_t(address) - int64_t(buffer->begin));
  } else if (const DeviceVariable* variable = find_variable(address)) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(variable->address);
    line.code_address("variable", begin).number("offset", int64_t(address - begin));
  }
}

const char* save_bytes(const void* from, size_t bytes) {
  static char name[32];
  static int count;
  snprintf(name, sizeof name, "copy.%d.bin", ++count);
  write_file(name, from, bytes);
  return name;
}

void write_variables() {
  for (const DeviceVariable* v = all_variables(); v; v = v->next) {
    JsonLine("variable")
        .text("name", v->name)
        .number("bytes", int64_t(v->size))
        .number("constant", v->constant)
        .code_address("variable", reinterpret_cast<uintptr_t>(v->address))
        .write();
  }
}

void record_kernel(const LaunchRequest& request, uintptr_t pc) {
  if (!kRecording) return;
  entered = false;
  request.invoke(request.closure);
  if (!entered) refuse("unknown_kernel", request.kernel, request.line, pc, 0);
}

static bool points_into_device_memory(uintptr_t word) { return is_near_arena(word) || find_variable(word) != nullptr; }

static void write_piece(const unsigned char* bytes, size_t size) {
  char digits[2 * kPiece + 1];
  for (size_t i = 0; i < size; ++i) snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
  JsonLine("piece").text("bytes", digits).write();
}

}  // namespace tilestep

using namespace tilestep;

extern "C" void tilestep_record_entry() {
  entered = true;
  JsonLine("entry").code_address("pc", TILESTEP_CALLER).write();
}

extern "C" void tilestep_record_argument(const void* argument, size_t size) {
  JsonLine("argument").number("bytes", int64_t(size)).write();
  const unsigned char* from = static_cast<const unsigned char*>(argument);
  for (size_t begin = 0; begin < size; begin += kPiece) {
    const size_t length = size - begin < kPiece ? size - begin : kPiece;
    unsigned char piece[kPiece];
    memcpy(piece, from + begin, length);
    for (size_t at = 0; at + sizeof(uintptr_t) <= length; at += sizeof(uintptr_t)) {
      uintptr_t word;
      memcpy(&word, piece + at, sizeof word);
      if (!points_into_device_memory(word)) continue;
      JsonLine line("pointer");
      line.number("at", int64_t(begin + at));
      add_place(line, word);
      line.write();
      memset(piece + at, 0, sizeof word);
    }
    write_piece(piece, length);
  }
}
