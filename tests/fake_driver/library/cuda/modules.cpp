// Modules and libraries: each load is a fresh copy of the image, so its variables are as they were written.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "modules.h"

struct Module {
  void* handle = nullptr;
  const void* base = nullptr;
  std::map<std::string, Function*> functions;
};

namespace {
constexpr int EM_NVIDIA = 190;

size_t sizeOf(const unsigned char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

int load(Module** out, const void* image) {
  if (int failed = ready()) return failed;
  if (int failed = int(setting("load", 0L))) return failed;  // a driver that refuses what this compiler makes
  auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return INVALID_IMAGE;
  if (reinterpret_cast<const Elf64_Ehdr*>(bytes)->e_machine == EM_NVIDIA) {
    say("an image for a real card was loaded");
    return NO_BINARY_FOR_GPU;
  }
  // A name of its own each time: the linker takes a name that it knows for what it has loaded under it.
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/tilestep-module-XXXXXX";
  int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return OUT_OF_MEMORY;
  size_t size = sizeOf(bytes), done = 0;
  while (done < size) {
    ssize_t wrote = write(file, bytes + done, size - done);
    if (wrote <= 0) break;
    done += size_t(wrote);
  }
  close(file);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) say(std::string("image not loaded: ") + dlerror());
  unlink(path.c_str());
  if (!handle) return INVALID_IMAGE;
  auto* module = new Module;
  module->handle = handle;
  link_map* map = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  module->base = reinterpret_cast<const void*>(map->l_addr);
  say("load");
  *out = module;
  return SUCCESS;
}

int unload(Module* module) {
  if (int failed = ready()) return failed;
  dropVariables(module->base);
  dlclose(module->handle);
  for (auto& function : module->functions) delete function.second;
  delete module;
  say("unload");
  return SUCCESS;
}

int number(Module* module, const std::string& symbol, int otherwise) {
  auto* found = static_cast<int*>(dlsym(module->handle, symbol.c_str()));
  return found ? *found : otherwise;
}

int function(Function** out, Module* module, const char* name) {
  if (int failed = ready()) return failed;
  auto known = module->functions.find(name);
  if (known == module->functions.end()) {
    void* found = dlsym(module->handle, name);
    Dl_info info;
    // A name of another library that is loaded by chance is not in this image.
    if (!found || !dladdr(found, &info) || info.dli_fbase != module->base) return NOT_FOUND;
    auto* made = new Function;
    made->name = name;
    made->run = reinterpret_cast<Kernel>(found);
    made->module = module;
    made->threads = number(module, made->name + "_threads", 1024);
    made->staticShared = number(module, made->name + "_shared", 0);
    made->dynamicShared = std::max(0, int(setting("shared", 49152L)) - made->staticShared);
    made->parameters = static_cast<const unsigned*>(dlsym(module->handle, (made->name + "_parameters").c_str()));
    known = module->functions.emplace(name, made).first;
  }
  *out = known->second;
  return SUCCESS;
}

int global(DevicePointer* address, size_t* bytes, Module* module, const char* name) {
  if (int failed = ready()) return failed;
  void* found = dlsym(module->handle, name);
  Dl_info info;
  void* entry = nullptr;
  if (!found || !dladdr1(found, &info, &entry, RTLD_DL_SYMENT) || info.dli_fbase != module->base) return NOT_FOUND;
  auto* symbol = static_cast<const ElfW(Sym)*>(entry);
  if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) return NOT_FOUND;
  addVariable(found, symbol->st_size);
  if (address) *address = reinterpret_cast<DevicePointer>(found);
  if (bytes) *bytes = symbol->st_size;
  return SUCCESS;
}

int get(int* value, int attribute, Function* function) {
  switch (attribute) {
    case MAX_THREADS: *value = function->threads; return SUCCESS;
    case STATIC_SHARED: *value = function->staticShared; return SUCCESS;
    case CONSTANT_BYTES: case LOCAL_BYTES: *value = 0; return SUCCESS;
    case REGISTERS: *value = 32; return SUCCESS;
    case PTX_VERSION: case BINARY_VERSION: *value = 90; return SUCCESS;
    case DYNAMIC_SHARED: *value = function->dynamicShared; return SUCCESS;
    default: say("function attribute " + std::to_string(attribute)); *value = 0; return SUCCESS;
  }
}

int set(Function* function, int attribute, int value) {
  if (int failed = ready()) return failed;
  if (attribute == CARVEOUT) return SUCCESS;
  if (attribute != DYNAMIC_SHARED) return INVALID_VALUE;
  const bool granted = value >= 0 && value + function->staticShared <= setting("shared_optin", 232448L);
  say("limit " + function->name + " " + std::to_string(value) + (granted ? "" : " refused"));
  if (!granted) return INVALID_VALUE;
  function->dynamicShared = value;
  return SUCCESS;
}
}  // namespace

const void* moduleOf(const void* address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

API cuModuleLoadData(Module** out, const void* image) { return load(out, image); }
API cuModuleLoadDataEx(Module** out, const void* image, unsigned, int*, void**) { return load(out, image); }
API cuModuleUnload(Module* module) { return unload(module); }
API cuModuleGetFunction(Function** out, Module* module, const char* name) { return function(out, module, name); }
API cuModuleGetGlobal(DevicePointer* address, size_t* bytes, Module* module, const char* name) {
  return global(address, bytes, module, name);
}
API cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return SUCCESS;
}

API cuLibraryLoadData(Module** out, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  return load(out, image);
}
API cuLibraryUnload(Module* module) { return unload(module); }
API cuLibraryGetKernel(Function** out, Module* module, const char* name) { return function(out, module, name); }
API cuLibraryGetModule(Module** out, Module* module) {
  *out = module;
  return SUCCESS;
}
API cuLibraryGetGlobal(DevicePointer* address, size_t* bytes, Module* module, const char* name) {
  return global(address, bytes, module, name);
}

API cuKernelGetFunction(Function** out, Function* kernel) {
  *out = kernel;
  return SUCCESS;
}
API cuKernelGetLibrary(Module** out, Function* kernel) {
  *out = kernel->module;
  return SUCCESS;
}
API cuKernelGetAttribute(int* value, int attribute, Function* kernel, int) { return get(value, attribute, kernel); }
API cuKernelSetAttribute(int attribute, int value, Function* kernel, int) { return set(kernel, attribute, value); }
API cuKernelGetName(const char** name, Function* kernel) {
  *name = kernel->name.c_str();
  return SUCCESS;
}
API cuFuncGetModule(Module** out, Function* function) {
  *out = function->module;
  return SUCCESS;
}
API cuFuncGetAttribute(int* value, int attribute, Function* function) { return get(value, attribute, function); }
API cuFuncSetAttribute(Function* function, int attribute, int value) { return set(function, attribute, value); }
API cuFuncGetParamInfo(Function* function, size_t index, size_t* offset, size_t* size) {
  if (int failed = ready()) return failed;
  if (!function->parameters) return NOT_SUPPORTED;
  size_t at = 0;
  for (size_t n = 0; function->parameters[n]; ++n) {
    size_t bytes = function->parameters[n], alignment = bytes < 8 ? bytes : 8;
    at = (at + alignment - 1) / alignment * alignment;
    if (n == index) {
      *offset = at;
      if (size) *size = bytes;
      return SUCCESS;
    }
    at += bytes;
  }
  return INVALID_VALUE;
}
API cuKernelGetParamInfo(Function* kernel, size_t index, size_t* offset, size_t* size) {
  return cuFuncGetParamInfo(kernel, index, offset, size);
}
API cuFuncSetCacheConfig(Function*, int) { return ready(); }
API cuFuncGetName(const char** name, Function* function) {
  *name = function->name.c_str();
  return SUCCESS;
}
API cuFuncLoad(Function*) { return ready(); }
API cuFuncIsLoaded(int* state, Function*) {
  *state = 1;
  return SUCCESS;
}
