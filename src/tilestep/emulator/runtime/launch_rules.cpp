#include "launch_rules.h"

#include <stdio.h>

#include "memory.h"

namespace tilestep {

constexpr unsigned kMaxBlockThreads = 1024, kMaxBlockXY = 1024, kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;

struct SharedLimit {
  const void* function;
  size_t bytes;
};

static SharedLimit limits[256];
static int limit_count;

int64_t dynamic_shared_asked(const void* function) {
  for (int i = 0; i < limit_count; ++i) {
    if (limits[i].function == function) return int64_t(limits[i].bytes);
  }
  return kNotAsked;
}

int set_dynamic_shared_limit(const void* function, int bytes) {
  if (bytes < 0 || size_t(bytes) > kDynamicSharedLimit) return kInvalidValue;
  for (int i = 0; i < limit_count; ++i) {
    if (limits[i].function == function) {
      limits[i].bytes = size_t(bytes);
      return kSuccess;
    }
  }
  if (limit_count == int(sizeof limits / sizeof limits[0])) return kInvalidValue;
  limits[limit_count++] = SharedLimit{function, size_t(bytes)};
  return kSuccess;
}

int check_launch(const LaunchRequest& request, char* detail, size_t room) {
  const uint3 grid = request.grid, block = request.block;
  const unsigned long long threads = 1ull * block.x * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    snprintf(detail, room, "a grid of %u x %u x %u blocks, so none", grid.x, grid.y, grid.z);
    return kInvalidConfiguration;
  }
  if (threads == 0) {
    snprintf(detail, room, "a block of %u x %u x %u threads, so none", block.x, block.y, block.z);
    return kInvalidConfiguration;
  }
  // Each extent first: a product of three may wrap.
  if (block.x > kMaxBlockXY || block.y > kMaxBlockXY || threads > kMaxBlockThreads) {
    snprintf(detail, room, "%llu threads a block, at most %u", threads, kMaxBlockThreads);
    return kInvalidConfiguration;
  }
  if (block.z > kMaxBlockZ) {
    snprintf(detail, room, "blockDim.z is %u, at most %u", block.z, kMaxBlockZ);
    return kInvalidConfiguration;
  }
  if (grid.x > kMaxGridX) {
    snprintf(detail, room, "gridDim.x is %u, at most %u", grid.x, kMaxGridX);
    return kInvalidConfiguration;
  }
  if (grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) {
    snprintf(detail, room, "gridDim.%c is %u, at most %u", grid.y > kMaxGridYZ ? 'y' : 'z',
             grid.y > kMaxGridYZ ? grid.y : grid.z, kMaxGridYZ);
    return kInvalidConfiguration;
  }
  if (request.dynamic_shared > kDynamicSharedLimit) {
    snprintf(detail, room, "%zu bytes of dynamic shared memory, at most %zu", request.dynamic_shared,
             kDynamicSharedLimit);
    return kInvalidValue;
  }
  // The kernel's static arrays count as well; how many bytes they are is known when it runs (check_shared).
  const int64_t asked = dynamic_shared_asked(request.function);
  const size_t allowed = asked == kNotAsked ? kSharedDefault : size_t(asked);
  if (request.dynamic_shared > allowed) {
    snprintf(detail, room,
             asked == kNotAsked ? "%zu bytes of dynamic shared memory, at most %zu unless "
                                  "cudaFuncAttributeMaxDynamicSharedMemorySize is set"
                                : "%zu bytes of dynamic shared memory, and "
                                  "cudaFuncAttributeMaxDynamicSharedMemorySize asks for %zu",
             request.dynamic_shared, allowed);
    return kInvalidValue;
  }
  return kSuccess;
}

bool check_shared(size_t static_bytes, size_t dynamic_bytes, int64_t asked, char* detail, size_t room) {
  // An attribute that does not fit beside the static arrays is refused when it is set, and changes nothing.
  const bool granted = asked != kNotAsked && static_bytes + size_t(asked) <= kDynamicSharedLimit;
  if (granted || dynamic_bytes == 0 || static_bytes + dynamic_bytes <= kSharedDefault) return true;
  if (asked == kNotAsked) {
    snprintf(detail, room,
             "%zu bytes of static and %zu of dynamic shared memory a block, together at most %zu unless "
             "cudaFuncAttributeMaxDynamicSharedMemorySize is set",
             static_bytes, dynamic_bytes, kSharedDefault);
  } else {
    snprintf(detail, room,
             "%zu bytes of static shared memory a block and %zu that cudaFuncAttributeMaxDynamicSharedMemorySize "
             "asks for, together at most %zu",
             static_bytes, size_t(asked), kDynamicSharedLimit);
  }
  return false;
}

}  // namespace tilestep
