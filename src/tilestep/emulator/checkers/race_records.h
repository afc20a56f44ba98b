// What is remembered of the accesses to one word (or one byte) of memory, so that the next access can be told apart
// as ordered or racing.
#pragma once

#include <cstdint>

namespace tilestep {

// Who: the thread in its block, how many there are, and the stamp of its lane (lane_clocks.h), in one word.
enum class Crowd : uint32_t {
  lanes,   // one or several lanes of one warp, all at the same stamp; `lanes` is their mask
  apart,   // several lanes of one warp at different stamps; `lanes` is the number of their LaneStamps
  warps,   // lanes of at least two warps: two witnesses, the second's pc in `lanes`, its thread where the stamp was
};

constexpr uint32_t kThreadBits = 10, kCrowdBits = 2;
constexpr uint32_t pack_who(uint32_t thread, Crowd crowd, uint32_t stamp) {
  return thread | static_cast<uint32_t>(crowd) << kThreadBits | stamp << (kThreadBits + kCrowdBits);
}
constexpr uint32_t thread_of(uint32_t who) { return who & ((1u << kThreadBits) - 1); }
constexpr Crowd crowd_of(uint32_t who) { return static_cast<Crowd>(who >> kThreadBits & ((1u << kCrowdBits) - 1)); }
constexpr uint32_t stamp_of(uint32_t who) { return who >> (kThreadBits + kCrowdBits); }

// A set of threads that read a word, or changed it atomically. Only those are kept that matter: who came before a
// member and is ordered before it needs no check of its own.
struct Accessors {
  uint32_t phase;  // 0: nobody
  uint32_t who;    // the first of them
  uint32_t pc;     // low half of its program counter
  uint32_t lanes;
};

struct Cell {
  uint32_t write_phase, write_who, write_pc;  // the last plain write
  uint32_t more;                              // flags below
  Accessors readers;
};
static_assert(sizeof(Cell) == 32, "two cells share a cache line");

constexpr uint32_t kHasAtomics = 1;  // the word's entry among the atomics is in use
constexpr uint32_t kSplit = 2;       // bytes are told apart; more >> 2 is the number of their ByteCells

// The four bytes of a word that is accessed in parts (char, half).
struct ByteCells {
  Cell cells[4];
  Accessors atomics[4];
};

// The stamps of lanes that accessed one word between different meetings.
struct LaneStamps {
  uint32_t mask;
  uint32_t stamp[32];
};

}  // namespace tilestep
