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

static SharedLimit limits[64];
static int limit_count;

static size_t dynamic_shared_limit_of(const void* function) {
  for (int i = 0; i < limit_count; ++i) {
    if (limits[i].function == function) return limits[i].bytes;
  }
  return kDynamicSharedDefault;
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
  const size_t allowed = dynamic_shared_limit_of(request.function);
  if (request.dynamic_shared > kDynamicSharedDefault && request.dynamic_shared > allowed) {
    snprintf(detail, room,
             "%zu bytes of dynamic shared memory, at most %zu unless "
             "cudaFuncAttributeMaxDynamicSharedMemorySize is set",
             request.dynamic_shared, allowed);
    return kInvalidValue;
  }
  return kSuccess;
}

}  // namespace tilestep
