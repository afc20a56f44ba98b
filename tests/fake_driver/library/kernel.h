// What a kernel of the fake driver is: a C function with the name that the linker gave the real kernel. It does
// the whole launch and says how it went. An "image" for the fake is a shared object with such functions.
#pragma once
#include <cstddef>
#include <cstdint>

struct FakeMemory {
  unsigned char* begin;
  size_t bytes;
  bool live;  // false: freed, yet still there, as on a card
};

struct FakeLaunch {
  unsigned grid[3];
  unsigned block[3];
  size_t dynamicShared;
  const FakeMemory* memory;  // every allocation that was ever made and is still mapped
  size_t memories;
  double written;  // bytes that the host's memsets wrote since this kernel's last launch: they make caches cold
  // What the kernel tells:
  double ms;      // how long it took on the device
  int error;      // a CUresult that ends the context, such as ILLEGAL_ADDRESS
  bool endless;   // it never ends
};

constexpr int ILLEGAL_ADDRESS = 700;
constexpr int LAUNCH_FAILED = 719;
constexpr int MISALIGNED_ADDRESS = 716;
constexpr int ASSERT_FAILED = 710;

#define KERNEL extern "C" void

// Optional facts of a kernel, checked as the driver checks them: the sizes of its parameters, the most threads
// that a block of it may have, and its own shared memory in bytes.
#define PARAMETERS(kernel, ...) extern "C" { unsigned kernel##_parameters[] = {__VA_ARGS__, 0}; }
#define THREADS(kernel, most) extern "C" { int kernel##_threads = most; }
#define SHARED(kernel, bytes) extern "C" { int kernel##_shared = bytes; }

// The n-th argument of a launch, as the kernel's parameter has it.
template <class T>
T& argument(void** parameters, int n) {
  return *static_cast<T*>(parameters[n]);
}
