// Bounds, initialisation, alignment, inputs, barriers and masks, one rule after another.
#include "fake_machine.h"

using namespace fake;

namespace {

const Report& last() {
  static const Report none{};
  return reports.empty() ? none : reports.back();
}
bool said(const char* code, const char* array, int64_t element, const char* detail) {
  const bool right = reports.size() == 1 && last().code == code && last().array == array &&
                     last().element == element && last().detail == detail;
  if (right) reports.clear();
  return right;
}

void bounds_of_global_memory() {
  Play play;
  play.launch();
  play.start_block(64);
  EXPECT(play.read(0, at(kIn)) && play.read(0, at(kIn + kBytes - 16), 16));
  EXPECT(reports.empty());
  EXPECT(play.read(5, at(kIn + kBytes)));
  EXPECT(said("out-of-bounds-global", "in", kBytes, "read"));
  EXPECT(play.write(5, at(kOut - 4)));
  EXPECT(said("out-of-bounds-global", "out", -4, "write"));
  EXPECT(play.read(5, at(kIn + kBytes - 4), 4) && reports.empty());
  EXPECT(play.read(5, at(kIn + kBytes - 8), 12));
  EXPECT(said("out-of-bounds-global", "in", kBytes, "read"));
  EXPECT(!play.read(5, at(kIn + kBytes + 4096)));
  EXPECT(said("out-of-bounds-global", "in", kBytes + 4096, "read"));
  EXPECT(play.write(6, at(kOut + kBytes), 4) && play.write(7, at(kOut + kBytes), 4) && reports.size() == 2);
  EXPECT(last().code == "out-of-bounds-global");  // and no race in the guard band
}

void bounds_of_shared_memory() {
  Play play;
  play.launch();
  play.start_block(64);
  play.write(0, shared_at(508));
  EXPECT(reports.empty());
  play.write(1, shared_at(512));
  EXPECT(said("out-of-bounds-shared", "tile", 512, "write"));
  play.read(1, shared_at(704));
  EXPECT(said("out-of-bounds-shared", "sums", 128, "read"));
  // An array that the machine learns of while the block runs.
  arrays.push_back({"late", 768, 800});
  play.write(1, shared_at(768), 16);
  EXPECT(reports.empty());
  play.write(1, shared_at(800), 4);
  EXPECT(said("out-of-bounds-shared", "late", 32, "write"));
}

void reads_before_writes() {
  Play play;
  play.launch();
  play.start_block(64);
  play.read(3, at(kOut + 8));
  EXPECT(said("uninitialised-global", "out", 8, "read"));
  play.atomic(3, at(kOut + 12));
  EXPECT(said("uninitialised-global", "out", 12, "atomic"));
  play.write(3, at(kOut + 16), 2);
  play.read(3, at(kOut + 16), 2);
  EXPECT(reports.empty());
  play.read(3, at(kOut + 16), 4);
  EXPECT(said("uninitialised-global", "out", 18, "read"));
  play.write(3, shared_at(0), 16);
  play.read(3, shared_at(12));
  EXPECT(reports.empty());
  play.read(3, shared_at(16));
  EXPECT(said("uninitialised-shared", "tile", 16, "read"));
  // The next block starts with nothing, and global memory keeps what was written.
  play.start_block(64);
  play.read(3, shared_at(12));
  EXPECT(said("uninitialised-shared", "tile", 12, "read"));
  play.launch();
  play.start_block(32);
  play.read(3, at(kOut + 16), 2);
  EXPECT(reports.empty());
  // A memset initialises, and so does a copy of many bytes.
  play.checkers.memory_written(at(kScratch), 64);
  play.read(3, at(kScratch + 60));
  EXPECT(reports.empty());
  play.read(3, at(kScratch + 64));
  EXPECT(said("uninitialised-global", "scratch 1", 64, "read"));
  play.write(3, at(kOut + 100), 100);
  play.read(3, at(kOut + 104), 96);
  EXPECT(reports.empty());
  play.read(3, at(kOut + 104), 97);
  EXPECT(said("uninitialised-global", "out", 200, "read"));
}

void alignment_and_inputs() {
  Play play;
  play.launch();
  play.start_block(64);
  EXPECT(play.read(2, at(kIn + 2)));
  EXPECT(said("misaligned", "in", 2, "4"));
  EXPECT(play.read(2, at(kIn + 4), 8));
  EXPECT(said("misaligned", "in", 4, "8"));
  EXPECT(!play.read(2, at(kIn + 8), 16));
  EXPECT(said("misaligned", "in", 8, "16"));
  EXPECT(play.read(2, at(kIn + 4), 12) && reports.empty());
  play.write(2, at(kIn + 4));
  EXPECT(said("input-written", "in", 4, "write"));
  play.atomic(2, at(kIn + 8));
  EXPECT(said("input-written", "in", 8, "atomic"));
  play.read(2, reinterpret_cast<uintptr_t>(&table[1]));
  EXPECT(reports.empty());
  play.write(2, reinterpret_cast<uintptr_t>(&table[1]));
  EXPECT(said("constant-written", "table", 4, "write"));
}

void barriers_and_masks() {
  Play play;
  play.launch();
  play.start_block(64);
  play.barrier();
  EXPECT(reports.empty());
  for (uint32_t i = 0; i < 64; ++i) play.threads[i].barrier_pc = i < 32 ? 910 : 920;
  play.checkers.block_barrier(play.threads.data(), play.block);
  EXPECT(last().pc == 910 && last().other_pc == 920 && last().other_thread == 32);
  EXPECT(said("divergent-barrier", "", -1, "different-barriers"));
  play.threads[40].done = true;
  play.barrier();
  EXPECT(last().other_thread == 40);
  EXPECT(said("divergent-barrier", "", -1, "early-exit"));

  play.start_block(40);
  play.checkers.mask_without_caller(play.threads[9], 0xff, 930, play.block);
  EXPECT(last().thread == 9);
  EXPECT(said("shuffle-mask", "", 0xff, "caller-not-named"));
  play.checkers.exchange_without(0, 1u << 5, 930, play.block);
  EXPECT(last().other_thread == 5);
  EXPECT(said("shuffle-mask", "", -1, "exited-lane"));
  play.checkers.exchange_without(1, 0xffffff00u, 930, play.block);  // lanes that a block of 40 never had
  EXPECT(reports.empty());
}

}  // namespace

int main() {
  bounds_of_global_memory();
  bounds_of_shared_memory();
  reads_before_writes();
  alignment_and_inputs();
  barriers_and_masks();
  return failures != 0;
}
