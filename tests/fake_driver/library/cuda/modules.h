// A kernel of a loaded module, and the attributes of kernels by the numbers of CUfunction_attribute.
#pragma once
#include <string>

#include "driver.h"
#include "memory.h"

using Kernel = void (*)(void**, FakeLaunch*);
struct Module;

struct Function {
  std::string name;
  Kernel run = nullptr;
  Module* module = nullptr;
  int threads = 1024;  // at most, in a block: an int NAME_threads in the image
  int staticShared = 0;  // bytes: an int NAME_shared in the image
  int dynamicShared = 0;  // at most, for now: until another limit is set, 48 KB with the static memory
  double setBefore = 0;  // bytes that had been set when it was launched last
  const unsigned* parameters = nullptr;  // their sizes and a 0: unsigned NAME_parameters[] in the image
};

enum FunctionAttribute {
  MAX_THREADS = 0,
  STATIC_SHARED = 1,
  CONSTANT_BYTES = 2,
  LOCAL_BYTES = 3,
  REGISTERS = 4,
  PTX_VERSION = 5,
  BINARY_VERSION = 6,
  DYNAMIC_SHARED = 8,
  CARVEOUT = 9,
};
