// kernel<<<grid, block, shared, stream>>>(arguments), once the frontend has turned it into a call.
#pragma once

#include <cstdlib>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi.h"
#include "hooks.h"
#include "host_refusals.h"
#include "host_types.h"
#include "kernel_names.h"

namespace tilestep {

TILESTEP_UNHOOKED void copy_unseen(void* to, const void* from, size_t bytes) { __builtin_memcpy(to, from, bytes); }

// A kernel call with its arguments copied, as a GPU copies them at the launch: what the host does to its own
// variables afterwards does not reach the kernel.
template <class Kernel, class... Arguments>
struct Closure {
  Kernel kernel;
  std::tuple<Arguments...> arguments;

  // The thread gets its own copy first: the original is the launch's memory, which no kernel may be seen to read.
  static void invoke(void* self) {
    alignas(Closure) unsigned char bytes[sizeof(Closure)];
    copy_unseen(bytes, self, sizeof(Closure));
    const Closure& closure = *reinterpret_cast<const Closure*>(bytes);
    std::apply(closure.kernel, closure.arguments);
  }
};

template <class Kernel>
class Configured {
 public:
  Configured(const LaunchRequest& request, Kernel kernel) : request_(request), kernel_(kernel) {}

  template <class... Arguments>
  void operator()(Arguments&&... arguments) {
    using Call = Closure<Kernel, std::decay_t<Arguments>...>;
    void* memory = std::malloc(sizeof(Call));  // the plan runs after the seam has returned, so it is never freed
    request_.closure = new (memory) Call{kernel_, {std::forward<Arguments>(arguments)...}};
    request_.invoke = &Call::invoke;
    remember_error(tilestep_record_launch(&request_));
  }

 private:
  LaunchRequest request_;
  Kernel kernel_;
};

// The execution configuration. `text` is the kernel as the submission writes it; `shared` counts bytes.
template <class Kernel>
Configured<Kernel> configure(int line, const char* text, Kernel kernel, dim3 grid, dim3 block, size_t shared = 0,
                             cudaStream_t stream = nullptr) {
  require_default_stream(stream, text, line);
  LaunchRequest request{};
  request.kernel = text;
  request.line = line;
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.stream = stream;
  request.function = function_of_kernel(text);
  return Configured<Kernel>(request, kernel);
}

}  // namespace tilestep
