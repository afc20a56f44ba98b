// How callers find the functions. What this library lacks is answered by a function that says so in the log.
#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "driver.h"

namespace {
constexpr int ROOM = 1024;
std::string lacking[ROOM];
int lacks = 0;
std::mutex guard;

template <int N>
int missing() {
  say("missing " + lacking[N]);
  return NOT_SUPPORTED;
}

template <int... N>
void* stand(int n, std::integer_sequence<int, N...>) {
  static void* const all[] = {reinterpret_cast<void*>(&missing<N>)...};
  return all[n];
}

void* missingFunction(const std::string& name) {
  std::lock_guard<std::mutex> lock(guard);
  int n = 0;
  while (n < lacks && lacking[n] != name) ++n;
  if (n == ROOM) return nullptr;
  if (n == lacks) lacking[lacks++] = name;
  return stand(n, std::make_integer_sequence<int, ROOM>());
}

// Where a function's parameters have changed, this library has one form of it.
bool isOurs(const char* name, int version) {
  if (std::strcmp(name, "cuCtxCreate") == 0 || std::strcmp(name, "cuStreamGetCtx") == 0) return version >= 12050;
  if (std::strcmp(name, "cuCtxGetDevice") == 0 || std::strcmp(name, "cuCtxSynchronize") == 0) return version < 13000;
  return true;
}
}  // namespace

API cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* status) {
  *out = nullptr;
  if (status) *status = 0;
  if (version > setting("cuda", 13000L)) {
    if (status) *status = 2;  // there in a later version
    return NOT_FOUND;
  }
  static void* self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&cuGetProcAddress_v2), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  std::string wanted = std::strcmp(name, "cuGetProcAddress") == 0 ? "cuGetProcAddress_v2" : name;
  if (isOurs(name, version)) *out = dlsym(self, wanted.c_str());
  if (!*out) *out = missingFunction(wanted + " of " + std::to_string(version));
  return *out ? SUCCESS : NOT_FOUND;
}

API cuGetErrorName(int error, const char** name) {
  switch (error) {
    case 0: *name = "CUDA_SUCCESS"; return SUCCESS;
    case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return SUCCESS;
    case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return SUCCESS;
    case 3: *name = "CUDA_ERROR_NOT_INITIALIZED"; return SUCCESS;
    case 46: *name = "CUDA_ERROR_DEVICE_UNAVAILABLE"; return SUCCESS;
    case 100: *name = "CUDA_ERROR_NO_DEVICE"; return SUCCESS;
    case 101: *name = "CUDA_ERROR_INVALID_DEVICE"; return SUCCESS;
    case 200: *name = "CUDA_ERROR_INVALID_IMAGE"; return SUCCESS;
    case 201: *name = "CUDA_ERROR_INVALID_CONTEXT"; return SUCCESS;
    case 209: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return SUCCESS;
    case 400: *name = "CUDA_ERROR_INVALID_HANDLE"; return SUCCESS;
    case 500: *name = "CUDA_ERROR_NOT_FOUND"; return SUCCESS;
    case 600: *name = "CUDA_ERROR_NOT_READY"; return SUCCESS;
    case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return SUCCESS;
    case 701: *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; return SUCCESS;
    case 710: *name = "CUDA_ERROR_ASSERT"; return SUCCESS;
    case 716: *name = "CUDA_ERROR_MISALIGNED_ADDRESS"; return SUCCESS;
    case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return SUCCESS;
    case 801: *name = "CUDA_ERROR_NOT_SUPPORTED"; return SUCCESS;
    default: *name = nullptr; return INVALID_VALUE;
  }
}
API cuGetErrorString(int error, const char** text) {
  *text = "what the driver says of it";
  const char* name;
  return cuGetErrorName(error, &name);
}
