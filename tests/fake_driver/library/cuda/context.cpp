// Contexts: the primary one and others, which of them a thread has made current, and the error that a kernel left.
#include <atomic>

#include "driver.h"

struct Context {
  int device = 0;
  size_t limits[16] = {1024, 1048576, 8388608};
};

namespace {
Context primary;
std::atomic<int> retained{0};
std::atomic<int> broken{0};
thread_local Context* current = nullptr;
thread_local Context* below[16];
thread_local int depth = 0;

int open(int device) {
  // Exclusive and prohibited modes fail where the context is made, as on a card.
  if (device != 0) return INVALID_DEVICE;
  return int(setting("context", 0L));
}
}  // namespace

int ready() { return broken ? broken.load() : current ? SUCCESS : INVALID_CONTEXT; }
void breakContext(int error) {
  int none = 0;
  broken.compare_exchange_strong(none, error);
}

API cuDevicePrimaryCtxRetain(Context** out, int device) {
  if (int failed = open(device)) return failed;
  if (broken) return broken;
  ++retained;
  *out = &primary;
  return SUCCESS;
}
API cuDevicePrimaryCtxRelease(int) { return retained-- > 0 ? SUCCESS : INVALID_CONTEXT; }
API cuDevicePrimaryCtxReset(int) { return SUCCESS; }
API cuDevicePrimaryCtxSetFlags(int, unsigned) { return SUCCESS; }
API cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = retained > 0;
  return SUCCESS;
}

API cuCtxCreate(Context** out, void*, unsigned, int device) {
  if (int failed = open(device)) return failed;
  *out = current = new Context;
  return SUCCESS;
}
API cuCtxDestroy(Context* context) {
  if (context == current) current = nullptr;
  if (context != &primary) delete context;
  return broken;
}
API cuCtxSetCurrent(Context* context) {
  current = context;
  return SUCCESS;
}
API cuCtxGetCurrent(Context** context) {
  *context = current;
  return SUCCESS;
}
API cuCtxPushCurrent(Context* context) {
  if (depth == 16) return INVALID_CONTEXT;
  below[depth++] = current;
  current = context;
  return SUCCESS;
}
API cuCtxPopCurrent(Context** context) {
  if (!current) return INVALID_CONTEXT;
  if (context) *context = current;
  current = depth ? below[--depth] : nullptr;
  return SUCCESS;
}
API cuCtxGetDevice(int* device) {
  if (!current) return INVALID_CONTEXT;
  *device = current->device;
  return SUCCESS;
}
API cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return ready();
}
API cuCtxGetApiVersion(Context*, unsigned* version) {
  *version = 3020;
  return SUCCESS;
}
API cuCtxGetId(Context* context, unsigned long long* id) {
  *id = reinterpret_cast<unsigned long long>(context ? context : current);
  return SUCCESS;
}
API cuCtxGetLimit(size_t* value, int limit) {
  if (int failed = ready()) return failed;
  if (limit < 0 || limit >= 16) return INVALID_VALUE;
  *value = current->limits[limit];
  return SUCCESS;
}
API cuCtxSetLimit(int limit, size_t value) {
  if (int failed = ready()) return failed;
  if (limit < 0 || limit >= 16) return INVALID_VALUE;
  current->limits[limit] = value;
  return SUCCESS;
}
API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (int failed = ready()) return failed;
  *least = 0;
  *greatest = -5;
  return SUCCESS;
}
API cuCtxResetPersistingL2Cache() {
  say("reset persisting L2");
  return ready();
}
API cuCtxSetCacheConfig(int) { return ready(); }
