// The CUDA driver API as far as this library has it, in the driver's own terms.
// Declared here, so that no CUDA toolkit is needed to build it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "../settings.h"

#define API extern "C" __attribute__((visibility("default"))) int

enum Result {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  NOT_FOUND = 500,
  NOT_READY = 600,
  INVALID_HANDLE = 400,
  NOT_SUPPORTED = 801,
};

// Device memory addresses are integers in the driver's API.
using DevicePointer = unsigned long long;

struct Context;
struct Stream;

// context.cpp: SUCCESS, or why no call can be served. An error of a kernel stays until the process ends.
int ready();
void breakContext(int error);

// clock.cpp: one clock for the host and for events, in nanoseconds. What a kernel's stand-in costs in real time
// is taken out of it, and what the kernel says it took is put in.
uint64_t hostClock();
uint64_t deviceClock();
void advanceDevice(double nanoseconds);
void waitForDevice();
void advanceHost(uint64_t nanoseconds);
void hide(uint64_t nanoseconds);
uint64_t realClock();

// memory.cpp: whether [address, address + bytes) lies in one live allocation, or in a module's variable.
bool inside(DevicePointer address, size_t bytes);
void addVariable(void* address, size_t bytes);
void dropVariables(const void* module);
