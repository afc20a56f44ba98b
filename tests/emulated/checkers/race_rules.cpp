// The rules of races.h, one after another, each with the access that must be named.
#include "fake_machine.h"

using namespace fake;

namespace {

bool raced(const char* code, const char* detail, uint32_t thread, uint32_t other) {
  const bool right = reports.size() == 1 && reports[0].code == code && reports[0].detail == detail &&
                     reports[0].thread == thread && reports[0].other_thread == other;
  if (right) reports.clear();
  return right;
}

// A play within a block whose shared memory has been written by its threads and passed by a barrier.
struct Block : Play {
  explicit Block(uint32_t count) {
    launch();
    start_block(count);
    for (uint32_t i = 0; i < 128; ++i) write(i % count, shared_at(i * 4));
    barrier();
    reports.clear();
  }
};

void barrier_orders_a_block() {
  Block play(128);
  play.write(0, shared_at(0), 4, 201);
  play.read(0, shared_at(0));
  EXPECT(reports.empty());
  play.read(64, shared_at(0), 4, 101);
  EXPECT(reports.size() == 1 && reports[0].pc == 101 && reports[0].other_pc == 201 && reports[0].array == "tile");
  EXPECT(raced("race-shared", "write-read", 64, 0));
  play.barrier();
  play.read(64, shared_at(0));
  play.read(3, shared_at(0));
  EXPECT(reports.empty());
  play.write(3, shared_at(0));
  EXPECT(raced("race-shared", "read-write", 3, 64));
  play.barrier();
  play.write(3, shared_at(0));
  play.write(4, shared_at(0));
  EXPECT(raced("race-shared", "write-write", 4, 3));
}

void wide_accesses_name_the_word() {
  Block play(64);
  play.write(40, shared_at(24));
  play.read(1, shared_at(16), 16);
  EXPECT(reports.size() == 1 && reports[0].element == 24);
  EXPECT(raced("race-shared", "write-read", 1, 40));
}

void lanes_are_ordered_by_meeting() {
  Block play(64);
  play.write(0, shared_at(0));
  play.read(1, shared_at(0));
  EXPECT(raced("race-shared", "write-read", 1, 0));
  play.write(0, shared_at(4));
  play.meet(0, ~0u);
  play.read(1, shared_at(4));
  EXPECT(reports.empty());
  play.read(33, shared_at(4));
  EXPECT(raced("race-shared", "write-read", 33, 0));
  play.meet(1, ~0u);
  play.read(33, shared_at(8));
  play.meet(0, ~0u);
  play.write(0, shared_at(8));
  EXPECT(raced("race-shared", "read-write", 0, 33));
}

void partial_masks_order_who_met() {
  Block play(64);
  play.write(0, shared_at(0));
  play.meet(0, 0x3);
  play.read(1, shared_at(0));
  EXPECT(reports.empty());
  play.read(2, shared_at(0));
  EXPECT(raced("race-shared", "write-read", 2, 0));
  // Lane 2 hears of lane 0 through lane 1.
  play.write(0, shared_at(4));
  play.meet(0, 0x3);
  play.meet(0, 0x6);
  play.read(2, shared_at(4));
  EXPECT(reports.empty());
  // A lane that meets only itself has met nobody.
  play.write(0, shared_at(8));
  play.meet(0, 0x10);
  play.read(4, shared_at(8));
  EXPECT(raced("race-shared", "write-read", 4, 0));
  // Readers at different stamps are all remembered.
  play.read(8, shared_at(12));
  play.meet(0, 0x200);
  play.meet(0, 0x600);
  play.read(9, shared_at(12));
  play.read(10, shared_at(12));
  play.meet(0, 0x1f00 & ~0x100u);
  play.write(11, shared_at(12));
  EXPECT(raced("race-shared", "read-write", 11, 8));
  // The whole warp meets again.
  play.meet(0, ~0u);
  play.write(20, shared_at(12));
  EXPECT(reports.empty());
}

void atomics_race_only_with_plain_accesses() {
  Block play(64);
  play.atomic(0, shared_at(0));
  play.atomic(40, shared_at(0));
  play.atomic(1, shared_at(0));
  EXPECT(reports.empty());
  play.read(1, shared_at(0));
  EXPECT(raced("race-shared", "atomic-read", 1, 40));
  play.barrier();
  play.read(1, shared_at(0));
  EXPECT(reports.empty());
  play.atomic(5, shared_at(0));
  EXPECT(raced("race-shared", "read-atomic", 5, 1));
  // The initialiser of a counter, by a thread that then counts as well.
  play.write(0, shared_at(4));
  play.atomic(0, shared_at(4));
  EXPECT(reports.empty());
  play.atomic(32, shared_at(4));
  EXPECT(raced("race-shared", "write-atomic", 32, 0));
}

void blocks_of_a_launch_are_not_ordered() {
  Play play;
  play.launch();
  play.start_block(32);
  play.write(7, at(kOut));
  play.atomic(7, reinterpret_cast<uintptr_t>(&counter[1]));
  play.start_block(32);
  play.atomic(7, reinterpret_cast<uintptr_t>(&counter[1]));
  EXPECT(reports.empty());
  play.barrier();
  play.read(9, at(kOut));
  EXPECT(reports.size() == 1 && reports[0].block == 1 && reports[0].other_block == 0);
  EXPECT(raced("race-global", "write-read", 9, 7));
  play.read(9, reinterpret_cast<uintptr_t>(&counter[1]));
  EXPECT(reports.size() == 1 && reports[0].array == "counter" && reports[0].element == 4);
  EXPECT(raced("race-global", "atomic-read", 9, 7));
  play.start_block(32);
  play.read(1, at(kIn));
  EXPECT(reports.empty());
  play.write(2, at(kOut));
  reports.clear();
  // The next launch comes after everything.
  play.launch();
  play.start_block(32);
  play.read(3, at(kOut));
  play.write(4, at(kOut + 4));
  EXPECT(reports.empty());
  play.start_block(32);
  play.write(5, at(kOut));
  EXPECT(raced("race-global", "read-write", 5, 3));
  // Shared memory is a block's own.
  play.write(5, shared_at(0));
  play.start_block(32);
  play.write(6, shared_at(0));
  EXPECT(reports.empty());
}

// Each block leaves a value, passes a fence and takes a ticket; the last one reads all values.
void a_fence_and_an_atomic_publish(bool fence, bool barrier) {
  Play play;
  play.launch();
  const uintptr_t ticket = reinterpret_cast<uintptr_t>(&counter[2]);
  for (int b = 0; b < 3; ++b) {
    play.start_block(64);
    play.write(40, at(kOut) + static_cast<uintptr_t>(b) * 8);
    play.barrier();
    play.write(0, at(kOut) + static_cast<uintptr_t>(b) * 8 + 4);
    if (fence) play.checkers.fence(play.threads[0], play.block);
    play.atomic(0, ticket);
  }
  EXPECT(reports.empty());
  play.read(0, at(kOut) + 4);
  EXPECT(reports.empty() == fence);
  reports.clear();
  if (barrier) play.barrier();
  play.read(33, at(kOut));
  play.read(34, at(kOut) + 12);
  EXPECT(reports.empty() == (fence && barrier));
  reports.clear();
  if (barrier) {
    play.write(0, ticket);
    EXPECT(reports.empty() == fence);
  }
  reports.clear();
  // A block that never came to the ticket is after nobody.
  play.start_block(32);
  play.read(0, at(kOut) + 4);
  EXPECT(raced("race-global", "write-read", 0, 0));
}

void bytes_are_told_apart() {
  Block play(64);
  for (uint32_t i = 0; i < 4; ++i) play.write(i * 10, shared_at(i), 1);
  play.write(50, shared_at(4), 2);
  play.write(51, shared_at(6), 2);
  EXPECT(reports.empty());
  play.read(50, shared_at(4), 4);
  EXPECT(raced("race-shared", "write-read", 50, 51));
  play.write(1, shared_at(2), 1);
  EXPECT(raced("race-shared", "write-write", 1, 20));
  play.barrier();
  play.read(9, shared_at(0), 4);
  EXPECT(reports.empty());
  play.write(9, shared_at(8), 7);
  play.read(40, shared_at(15), 1);
  EXPECT(reports.empty());
  play.read(40, shared_at(14), 1);
  EXPECT(raced("race-shared", "write-read", 40, 9));
}

}  // namespace

int main() {
  barrier_orders_a_block();
  wide_accesses_name_the_word();
  lanes_are_ordered_by_meeting();
  partial_masks_order_who_met();
  atomics_race_only_with_plain_accesses();
  blocks_of_a_launch_are_not_ordered();
  a_fence_and_an_atomic_publish(true, true);
  a_fence_and_an_atomic_publish(true, false);
  a_fence_and_an_atomic_publish(false, true);
  bytes_are_told_apart();
  return failures != 0;
}
