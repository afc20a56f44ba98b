#include "watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "reporting.h"
#include "result.h"

extern "C" void tilestep_anchor();

namespace tilestep {

constexpr size_t kMostLogged = size_t(48) << 20;  // bytes of the log, over all kept blocks
constexpr int kMostBlocks = 64;                   // kept

// One entry of watch.bin. A write is followed by its bytes.
struct WatchEntry {
  uint32_t kind;    // a WatchKind
  uint32_t offset;  // a write: in the shared segment
  uint32_t bytes;   // a write: how many follow
  uint32_t epoch;   // barriers that the block has passed, from 1
  int64_t place;    // code address relative to tilestep_anchor; the number of a block among those kept
};

enum WatchKind : uint32_t { kBlock = 0, kWrite = 1, kBarrier = 2 };

static struct {
  WatchOrder order;
  uintptr_t begin, end;  // of the watched piece
  bool wrote;            // the running block has written into it
  bool full;
  int kept;
  int file;
  size_t logged;

  unsigned char* log;  // of the running block
  size_t size, room;

  // A write is noted before it happens, so its bytes are fetched when the next event comes. Neighbouring writes of one
  // place in the code are one entry.
  uint32_t pending_begin, pending_end;
  uintptr_t pending_pc;

  uint64_t stride;                    // of every so many blocks of the running launch one is run
  uint32_t accesses_of[kMaxThreads];  // in the running block
  struct {
    uint64_t blocks, accesses, busiest, longest, active, threads, read, written;
  } work;  // of the running launch
} watch;

void begin_watching(const WatchOrder& order) {
  watch.order = order;
  watch.file = ::open("watch.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (watch.file < 0) give_up("cannot write the watch log");
  if (!order.buffer) return;
  for (int i = 0; i < buffer_count(); ++i) {
    const Buffer& buffer = buffer_at(i);
    if (strcmp(buffer.name, order.buffer) != 0) continue;
    if (order.begin >= order.end || order.end > buffer.end - buffer.begin) give_up("job: the watched piece is outside");
    watch.begin = buffer.begin + order.begin;
    watch.end = buffer.begin + order.end;
  }
  if (watch.end == 0) give_up("job: no buffer of the watched name");
}

// From the middle of each stride: where work grows from block to block, the sample's mean is the launch's.
bool watch_skips(uint64_t place_in_order) { return place_in_order % watch.stride != (watch.stride - 1) / 2; }

void watch_launch(const LaunchInfo& launch) {
  memset(&watch.work, 0, sizeof watch.work);
  const uint64_t blocks = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  watch.stride = watch.order.sample == 0 || blocks < 2 * watch.order.sample ? 1 : blocks / watch.order.sample;
  watch.stride |= 1;  // odd, so that it does not meet the same head or column tile every time
}

static void append(const void* data, size_t bytes) {
  if (watch.full) return;
  if (watch.logged + watch.size + bytes > kMostLogged) {
    watch.full = true;
    JsonLine("watch-full").write();
    return;
  }
  if (watch.size + bytes > watch.room) {
    watch.room = 2 * (watch.size + bytes);
    watch.log = static_cast<unsigned char*>(realloc(watch.log, watch.room));
    if (!watch.log) give_up("no memory for the watch log");
  }
  memcpy(watch.log + watch.size, data, bytes);
  watch.size += bytes;
}

static int64_t place_of(uintptr_t pc) { return pc == 0 ? 0 : int64_t(pc - reinterpret_cast<uintptr_t>(&tilestep_anchor)); }

static void fetch_pending(const Machine& m) {
  const uint32_t bytes = watch.pending_end - watch.pending_begin;
  if (bytes == 0) return;
  const WatchEntry entry{kWrite, watch.pending_begin, bytes, m.block.epoch, place_of(watch.pending_pc)};
  append(&entry, sizeof entry);
  append(m.shared + watch.pending_begin, bytes);
  watch.pending_begin = watch.pending_end = 0;
}

void watch_block_begin(Machine& m) {
  watch.wrote = false;
  watch.size = 0;
  watch.pending_begin = watch.pending_end = 0;
  memset(watch.accesses_of, 0, m.block.threads * sizeof watch.accesses_of[0]);
}

void watch_access(uintptr_t address, uint32_t size, Access kind, uintptr_t pc) {
  Machine& m = *machine;
  if (address - hot.stack_low < kStackBytes) return;
  if (address - hot.arena_low < hot.arena_size) {
    if (kind != Access::write) watch.work.read += size;
    if (kind != Access::read) {
      watch.work.written += size;
      watch.wrote |= address < watch.end && address + size > watch.begin;
    }
  } else if (address - hot.shared_low < hot.shared_size) {
    if (kind != Access::read && watch.end != 0) {
      const uint32_t offset = uint32_t(address - hot.shared_low);
      if (offset != watch.pending_end || pc != watch.pending_pc) {
        fetch_pending(m);
        watch.pending_begin = offset;
        watch.pending_pc = pc;
      }
      watch.pending_end = offset + size;
    }
  } else {
    return other_access(address, size, kind, pc);
  }
  ++watch.accesses_of[m.current];
}

void watch_barrier(Machine& m) {
  if (watch.end == 0) return;
  fetch_pending(m);
  const WatchEntry entry{kBarrier, 0, 0, m.block.epoch, place_of(m.threads[m.current].barrier_pc)};
  append(&entry, sizeof entry);
}

static void write_all(const void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = ::write(watch.file, static_cast<const unsigned char*>(data) + done, bytes - done);
    if (n <= 0) give_up("cannot write the watch log");
    done += size_t(n);
  }
  watch.logged += bytes;
}

static void keep_block(const Machine& m) {
  JsonLine("watched-block")
      .number("launch", running_launch()->index)
      .text("kernel", running_launch()->kernel)
      .number("line", running_launch()->line)
      .triple("block", m.block.index)
      .write();
  for (int i = 0; i < shared_array_count(); ++i) {
    const SharedArray& array = shared_array_at(i);
    JsonLine("watched-array")
        .number("of", watch.kept)
        .text("array", array.name)
        .number("begin", array.begin)
        .number("end", array.end)
        .number("row_bytes", array.row_bytes)
        .write();
  }
  const WatchEntry entry{kBlock, 0, 0, 0, watch.kept++};
  write_all(&entry, sizeof entry);
  write_all(watch.log, watch.size);
}

void watch_block_end(Machine& m) {
  uint64_t sum = 0, longest = 0, active = 0;
  for (uint32_t i = 0; i < m.block.threads; ++i) {
    const uint32_t count = watch.accesses_of[i];
    sum += count;
    active += count != 0;
    if (count > longest) longest = count;
  }
  watch.work.blocks += 1;
  watch.work.threads += m.block.threads;
  watch.work.accesses += sum;
  watch.work.active += active;
  watch.work.busiest += longest;
  if (longest > watch.work.longest) watch.work.longest = longest;
  if (watch.end == 0) return;
  fetch_pending(m);
  if (watch.wrote && watch.kept < kMostBlocks) keep_block(m);
}

void watch_launch_end(const LaunchInfo& launch) {
  JsonLine("work")
      .number("launch", launch.index)
      .number("blocks", int64_t(watch.work.blocks))
      .number("threads", int64_t(watch.work.threads))
      .number("active", int64_t(watch.work.active))
      .number("accesses", int64_t(watch.work.accesses))
      .number("busiest", int64_t(watch.work.busiest))
      .number("longest", int64_t(watch.work.longest))
      .number("read", int64_t(watch.work.read))
      .number("written", int64_t(watch.work.written))
      .number("static_shared", launch.static_shared)
      .write();
}

void end_watching() { ::close(watch.file); }

}  // namespace tilestep
