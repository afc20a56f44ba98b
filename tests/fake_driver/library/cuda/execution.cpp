// Streams, events and launches. A kernel's stand-in runs when it is launched; the device's clock says when it
// would have.
#include <unistd.h>

#include <memory>
#include "graphs.h"
#include "modules.h"

struct Stream {
  unsigned flags;
  int priority;
  unsigned long long id;
};

struct Event {
  uint64_t at = 0;
  bool recorded = false;
  unsigned flags = 0;
};

namespace {
constexpr int LAUNCH_OUT_OF_RESOURCES = 701;
constexpr unsigned NO_TIMING = 2;
bool endless = false;
int pending = 0;  // an error that a kernel left and nobody has waited for

int run(Function* function, const unsigned grid[3], const unsigned block[3], unsigned dynamicShared, void** arguments) {
  if (endless || pending) return SUCCESS;  // it would wait, or never run

  std::vector<FakeMemory> memory = everyBlock();
  FakeLaunch made = {};
  for (int axis = 0; axis < 3; ++axis) made.grid[axis] = grid[axis], made.block[axis] = block[axis];
  made.dynamicShared = dynamicShared;
  made.memory = memory.data();
  made.memories = memory.size();
  made.written = bytesSet() - function->setBefore;
  function->setBefore = bytesSet();
  made.ms = 0.01;
  uint64_t began = realClock();
  function->run(arguments, &made);
  hide(realClock() - began);
  if (long microseconds = setting(("us_" + function->name).c_str(), 0L)) made.ms = double(microseconds) / 1e3;
  advanceDevice(made.ms * 1e6);
  endless = made.endless;
  pending = made.error;
  say("launch " + function->name + " " + std::to_string(made.ms));
  return SUCCESS;
}

// A captured launch keeps its arguments as they are now.
struct Captured {
  Function* function;
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamicShared;
  std::vector<std::vector<unsigned char>> values;

  int operator()() {
    std::vector<void*> arguments;
    for (auto& value : values) arguments.push_back(value.data());
    return run(function, grid, block, dynamicShared, arguments.data());
  }
};

int capture(Function* function, const unsigned grid[3], const unsigned block[3], unsigned dynamicShared, void** arguments) {
  if (!function->parameters) return NOT_SUPPORTED;  // their sizes are not known
  auto made = std::make_shared<Captured>();
  made->function = function;
  for (int axis = 0; axis < 3; ++axis) made->grid[axis] = grid[axis], made->block[axis] = block[axis];
  made->dynamicShared = dynamicShared;
  for (int index = 0; function->parameters[index]; ++index) {
    auto* begin = static_cast<unsigned char*>(arguments[index]);
    made->values.emplace_back(begin, begin + function->parameters[index]);
  }
  return keep([made] { return (*made)(); });
}

int launch(Function* function, const unsigned grid[3], const unsigned block[3], unsigned dynamicShared, void** arguments) {
  if (int failed = ready()) return failed;
  if (!function) return INVALID_HANDLE;
  const char* gridNames[] = {"grid_x", "grid_y", "grid_z"};
  const char* blockNames[] = {"block_x", "block_y", "block_z"};
  long gridMost[] = {2147483647, 65535, 65535}, blockMost[] = {1024, 1024, 64};
  for (int axis = 0; axis < 3; ++axis) {
    if (!grid[axis] || long(grid[axis]) > setting(gridNames[axis], gridMost[axis])) return INVALID_VALUE;
    if (!block[axis] || long(block[axis]) > setting(blockNames[axis], blockMost[axis])) return INVALID_VALUE;
  }
  unsigned long long threads = 1ull * block[0] * block[1] * block[2];
  if (threads > 1024) return INVALID_VALUE;
  if (threads > unsigned(function->threads)) return LAUNCH_OUT_OF_RESOURCES;
  if (dynamicShared > unsigned(function->dynamicShared)) return INVALID_VALUE;
  if (capturing()) return capture(function, grid, block, dynamicShared, arguments);
  return run(function, grid, block, dynamicShared, arguments);
}

// stall=N: before every Nth launch the host is held up for a millisecond, as by another process.
void stall() {
  static long launches = 0;
  const long every = setting("stall", 0L);
  if (every && ++launches % every == 0) advanceHost(1000000);
}
}  // namespace

int waitForKernels() {
  if (capturing()) return CAPTURE_UNSUPPORTED;
  if (endless) say("waiting for an endless kernel");
  while (endless) pause();
  if (pending) breakContext(pending);
  if (int failed = ready()) return failed;
  waitForDevice();
  return SUCCESS;
}

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamicShared;
  Stream* stream;
  void* attributes;
  unsigned count;
};

API cuLaunchKernel(Function* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned dynamicShared, Stream*, void** arguments, void**) {
  stall();
  const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  return launch(function, grid, block, dynamicShared, arguments);
}
API cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** arguments, void**) {
  return launch(function, config->grid, config->block, config->dynamicShared, arguments);
}

API cuStreamCreateWithPriority(Stream** out, unsigned flags, int priority) {
  if (int failed = ready()) return failed;
  static unsigned long long count = 16;
  *out = new Stream{flags, priority, count++};
  return SUCCESS;
}
API cuStreamCreate(Stream** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
API cuStreamDestroy(Stream* stream) {
  delete stream;
  return ready();
}
API cuStreamGetFlags(Stream* stream, unsigned* flags) {
  *flags = stream->flags;
  return SUCCESS;
}
API cuStreamGetPriority(Stream* stream, int* priority) {
  *priority = stream->priority;
  return SUCCESS;
}
API cuStreamGetId(Stream* stream, unsigned long long* id) {
  *id = stream->id;
  return SUCCESS;
}
API cuStreamGetCtx(Stream*, Context** context, void*) {
  extern int cuCtxGetCurrent(Context**) asm("cuCtxGetCurrent");
  return cuCtxGetCurrent(context);
}
API cuStreamGetDevice(Stream*, int* device) {
  *device = 0;
  return SUCCESS;
}
API cuStreamIsCapturing(Stream*, int* state) {
  *state = capturing();
  return SUCCESS;
}
API cuStreamWaitEvent(Stream*, Event*, unsigned) { return ready(); }
API cuStreamSynchronize(Stream*) { return waitForKernels(); }
API cuStreamQuery(Stream*) {
  if (int failed = ready()) return failed;
  return endless || deviceClock() > hostClock() ? int(NOT_READY) : waitForKernels();
}
API cuCtxSynchronize() { return waitForKernels(); }

API cuEventCreate(Event** out, unsigned flags) {
  if (int failed = ready()) return failed;
  *out = new Event;
  (*out)->flags = flags;
  return SUCCESS;
}
API cuEventDestroy(Event* event) {
  delete event;
  return ready();
}
API cuEventRecord(Event* event, Stream*) {
  if (int failed = ready()) return failed;
  event->at = endless ? UINT64_MAX : deviceClock();
  event->recorded = true;
  return SUCCESS;
}
API cuEventRecordWithFlags(Event* event, Stream* stream, unsigned) { return cuEventRecord(event, stream); }
API cuEventQuery(Event* event) {
  if (int failed = ready()) return failed;
  return event->recorded && event->at > hostClock() ? NOT_READY : SUCCESS;
}
API cuEventSynchronize(Event*) { return waitForKernels(); }
API cuEventElapsedTime(float* ms, Event* from, Event* to) {
  if (int failed = ready()) return failed;
  if (!from->recorded || !to->recorded || ((from->flags | to->flags) & NO_TIMING)) return INVALID_HANDLE;
  if (from->at > hostClock() || to->at > hostClock()) return NOT_READY;
  *ms = float((double(to->at) - double(from->at)) / 1e6);
  return SUCCESS;
}
