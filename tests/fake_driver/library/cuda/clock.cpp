// Time. The device runs behind the host, as a card does: each piece of work begins when the one before it has
// ended, or when the host asked for it, whichever is later. Nothing sleeps: waiting for the device moves the
// host's clock. Preloaded, this library gives that clock to the whole process, so that its own timing of a call
// and the events around it tell one story, however slow the machine is.
#include <dlfcn.h>
#include <time.h>

#include <atomic>

#include "driver.h"

namespace {
std::atomic<int64_t> shift{0};  // the host's clock minus the real one
std::atomic<uint64_t> busyUntil{0};

using Clock = int (*)(clockid_t, timespec*);
Clock theirs() {
  static Clock found = reinterpret_cast<Clock>(dlsym(RTLD_NEXT, "clock_gettime"));
  return found;
}
}  // namespace

uint64_t realClock() {
  timespec now;
  theirs()(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

uint64_t hostClock() { return realClock() + shift.load(); }

uint64_t deviceClock() {
  uint64_t now = hostClock();
  return busyUntil.load() > now ? busyUntil.load() : now;
}

void advanceDevice(double nanoseconds) { busyUntil = deviceClock() + uint64_t(nanoseconds); }

void waitForDevice() {
  uint64_t now = hostClock();
  if (busyUntil.load() > now) shift += int64_t(busyUntil.load() - now);
}

void advanceHost(uint64_t nanoseconds) { shift += int64_t(nanoseconds); }

void hide(uint64_t nanoseconds) { shift -= int64_t(nanoseconds); }

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t which, timespec* out) {
  if (which != CLOCK_MONOTONIC) return theirs()(which, out);
  uint64_t now = hostClock();
  out->tv_sec = time_t(now / 1000000000u);
  out->tv_nsec = long(now % 1000000000u);
  return 0;
}
