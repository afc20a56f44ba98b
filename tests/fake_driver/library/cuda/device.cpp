// The card: one H200, unless settings say otherwise ("devices=0", "major=5 minor=2", "init=100").
#include <cstring>

#include "driver.h"

namespace {
bool initialised = false;

struct Attribute {
  int number;
  const char* name;
  long value;
};

// By the numbers of CUdevice_attribute.
constexpr Attribute ATTRIBUTES[] = {
    {1, "threads", 1024},
    {2, "block_x", 1024},
    {3, "block_y", 1024},
    {4, "block_z", 64},
    {5, "grid_x", 2147483647},
    {6, "grid_y", 65535},
    {7, "grid_z", 65535},
    {8, "shared", 49152},
    {9, "constant", 65536},
    {10, "warp", 32},
    {12, "registers", 65536},
    {13, "clock_khz", 1980000},
    {14, "texture_alignment", 512},
    {16, "multiprocessors", 132},
    {17, "watchdog", 0},
    {20, "compute_mode", 0},
    {31, "concurrent", 1},
    {32, "ecc", 1},
    {33, "pci_bus", 1},
    {34, "pci_device", 0},
    {36, "memory_khz", 3201000},
    {37, "bus_width", 6144},
    {38, "l2", 62914560},
    {39, "multiprocessor_threads", 2048},
    {40, "engines", 3},
    {41, "unified", 1},
    {50, "pci_domain", 0},
    {75, "major", 9},
    {76, "minor", 0},
    {78, "priorities", 1},
    {81, "multiprocessor_shared", 233472},
    {82, "multiprocessor_registers", 65536},
    {83, "managed", 1},
    {88, "pageable", 0},
    {95, "cooperative", 1},
    {97, "shared_optin", 232448},
    {106, "multiprocessor_blocks", 32},
    {108, "persisting_l2", 39321600},
    {109, "window", 134217728},
    {111, "reserved_shared", 1024},
    {115, "pools", 1},
    {120, "clusters", 1},
};
}  // namespace

API cuInit(unsigned) {
  if (int failed = int(setting("init", 0L))) return failed;
  initialised = true;
  return SUCCESS;
}

API cuDriverGetVersion(int* version) {
  *version = int(setting("cuda", 13000L));
  return SUCCESS;
}

API cuDeviceGetCount(int* count) {
  if (!initialised) return NOT_INITIALIZED;
  *count = int(setting("devices", 1L));
  return SUCCESS;
}

API cuDeviceGet(int* device, int ordinal) {
  if (!initialised) return NOT_INITIALIZED;
  if (ordinal < 0 || ordinal >= setting("devices", 1L)) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

API cuDeviceGetName(char* name, int room, int) {
  std::string called = setting("name", std::string("NVIDIA-H200"));
  for (char& letter : called)
    if (letter == '-') letter = ' ';
  std::strncpy(name, called.c_str(), size_t(room) - 1);
  name[room - 1] = 0;
  return SUCCESS;
}

API cuDeviceGetUuid(unsigned char* uuid, int) {
  std::memcpy(uuid, "tilestep-fake-01", 16);
  return SUCCESS;
}

API cuDeviceGetPCIBusId(char* id, int room, int) {
  std::strncpy(id, "00000000:01:00.0", size_t(room) - 1);
  id[room - 1] = 0;
  return SUCCESS;
}

API cuDeviceTotalMem(size_t* bytes, int) {
  *bytes = size_t(setting("memory", 150754820096L));
  return SUCCESS;
}

API cuDeviceGetAttribute(int* value, int number, int) {
  for (const Attribute& known : ATTRIBUTES) {
    if (known.number != number) continue;
    *value = int(setting(known.name, known.value));
    return SUCCESS;
  }
  say("attribute " + std::to_string(number));
  *value = 0;
  return SUCCESS;
}
