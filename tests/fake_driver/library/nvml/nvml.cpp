// NVML, as far as a process that times kernels asks it: clocks, the reasons for a lowered clock, who else is there.
// Settings: sm_clock, memory_clock, highest_clock (MHz), throttle (bit masks, one a question, over and over: "0,0,4"),
// others (processes), nvml (an error of its start).
#include <cstring>
#include <string>
#include <vector>

#include "../settings.h"

#define API extern "C" __attribute__((visibility("default"))) int

enum Result { SUCCESS = 0, INVALID_ARGUMENT = 2, INSUFFICIENT_SIZE = 7 };

namespace {
int card;
constexpr int MEMORY_CLOCK = 2;

void write(char* out, unsigned room, const std::string& text) {
  std::strncpy(out, text.c_str(), room - 1);
  out[room - 1] = 0;
}

std::vector<unsigned long long> masks() {
  std::string all = setting("throttle", std::string("0"));
  std::vector<unsigned long long> found;
  for (size_t at = 0; at <= all.size();) {
    size_t comma = all.find(',', at);
    if (comma == std::string::npos) comma = all.size();
    found.push_back(std::stoull(all.substr(at, comma - at)));
    at = comma + 1;
  }
  return found;
}

struct Process {  // nvmlProcessInfo_t, version 3
  unsigned pid;
  unsigned long long memory;
  unsigned gpuInstance, computeInstance;
};

int handle(void** out) {
  *out = &card;
  return SUCCESS;
}
}  // namespace

API nvmlInit_v2() { return int(setting("nvml", 0L)); }
API nvmlInitWithFlags(unsigned) { return int(setting("nvml", 0L)); }
API nvmlShutdown() { return SUCCESS; }
API nvmlSystemGetDriverVersion(char* out, unsigned room) {
  write(out, room, setting("driver", std::string("580.159.04")));
  return SUCCESS;
}
API nvmlDeviceGetCount_v2(unsigned* count) {
  *count = unsigned(setting("devices", 1L));
  return SUCCESS;
}
API nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  return long(index) < setting("devices", 1L) ? handle(out) : INVALID_ARGUMENT;
}
API nvmlDeviceGetHandleByUUID(const char*, void** out) { return handle(out); }
API nvmlDeviceGetHandleByPciBusId_v2(const char*, void** out) { return handle(out); }
API nvmlDeviceGetName(void*, char* out, unsigned room) {
  write(out, room, "NVIDIA H200");
  return SUCCESS;
}
API nvmlDeviceGetUUID(void*, char* out, unsigned room) {
  write(out, room, "GPU-74696c65-7374-6570-2d66-616b652d3031");
  return SUCCESS;
}
API nvmlDeviceGetClockInfo(void*, unsigned which, unsigned* clock) {
  *clock = unsigned(which == MEMORY_CLOCK ? setting("memory_clock", 3201L) : setting("sm_clock", 1980L));
  return SUCCESS;
}
API nvmlDeviceGetMaxClockInfo(void*, unsigned which, unsigned* clock) {
  *clock = unsigned(which == MEMORY_CLOCK ? setting("memory_clock", 3201L) : setting("highest_clock", 1980L));
  return SUCCESS;
}
API nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  static size_t asked = 0;
  std::vector<unsigned long long> all = masks();
  *reasons = all[asked++ % all.size()];
  return SUCCESS;
}
API nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}
API nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* out) {
  unsigned others = unsigned(setting("others", 0L)), room = *count;
  *count = others;
  if (room < others) return INSUFFICIENT_SIZE;
  for (unsigned n = 0; n < others; ++n) out[n] = {1000000000u + n, 1u << 30, ~0u, ~0u};
  return SUCCESS;
}
API nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = int(setting("compute_mode", 0L));
  return SUCCESS;
}
API nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 40;
  return SUCCESS;
}
