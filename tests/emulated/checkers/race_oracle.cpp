// The race checker against a second formulation: full vector clocks for every thread, and every access remembered.
//
// Random programs of accesses, barriers, meetings of lanes, blocks and launches. Until a byte has raced the checker
// must report at exactly the access where the oracle sees a race on it; it must never report where there is none.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "fake_machine.h"

using namespace fake;

namespace {

struct Past {
  Access kind;
  uint64_t block;  // counted over all launches
  uint32_t launch, thread, clock;
};

// Happens-before, by the book: clocks of threads within a block, joined where they meet.
class Oracle {
 public:
  void start_block(uint32_t count, bool shared_is_new) {
    ++block_;
    clocks_.assign(count, std::vector<uint32_t>(count, 0));
    for (uint32_t i = 0; i < count; ++i) clocks_[i][i] = 1;
    if (shared_is_new)
      for (auto& [address, past] : pasts_)
        if (address >= shared_at(0) && address < shared_at(sizeof segment)) past.clear(), tainted_.erase(address);
  }
  void launch() { ++launch_; }
  void meet(const std::vector<uint32_t>& who) {
    std::vector<uint32_t> joined(clocks_.size(), 0);
    for (uint32_t i : who)
      for (size_t k = 0; k < joined.size(); ++k) joined[k] = std::max(joined[k], clocks_[i][k]);
    for (uint32_t i : who) {
      clocks_[i] = joined;
      ++clocks_[i][i];
    }
  }
  // Whether the access races with any before it; and whether on a byte that had not raced yet.
  void access(uint32_t thread, Access kind, uintptr_t address, uint32_t size, bool* races, bool* must_tell) {
    *races = *must_tell = false;
    for (uint32_t i = 0; i < size; ++i) {
      bool here = false;
      for (const Past& past : pasts_[address + i]) here = here || conflicts(past, thread, kind);
      pasts_[address + i].push_back({kind, block_, launch_, thread, clocks_[thread][thread]});
      *races = *races || here;
      *must_tell = *must_tell || (here && !tainted_.count(address + i));
      if (here) tainted_[address + i] = true;
    }
  }

 private:
  bool conflicts(const Past& past, uint32_t thread, Access kind) const {
    if (past.kind == Access::read && kind == Access::read) return false;
    if (past.kind == Access::atomic && kind == Access::atomic) return false;
    if (past.launch != launch_) return false;
    if (past.block != block_) return true;
    return past.thread != thread && past.clock > clocks_[thread][past.thread];
  }

  std::map<uintptr_t, std::vector<Past>> pasts_;
  std::map<uintptr_t, bool> tainted_;
  std::vector<std::vector<uint32_t>> clocks_;
  uint64_t block_ = 0;
  uint32_t launch_ = 0;
};

void play_one(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return random() % n; };
  Play play;
  Oracle oracle;
  // Some programs know no partial masks, some no sub-word accesses: the checker has shortcuts for those.
  const bool partial = below(2), bytes = below(2), few_lanes = below(2);
  const uint32_t count = 1 + below(80), words = 1 + below(6);
  for (int l = 0; l < 2; ++l) {
    play.launch();
    oracle.launch();
    for (uint32_t b = 0; b < 3; ++b) {
      play.start_block(count);
      oracle.start_block(count, true);
      const uint32_t steps = 20 + below(60);
      for (uint32_t s = 0; s < steps; ++s) {
        const uint32_t dice = below(20);
        if (dice == 0) {
          play.barrier();
          std::vector<uint32_t> all;
          for (uint32_t i = 0; i < count; ++i) all.push_back(i);
          oracle.meet(all);
        } else if (dice < 7) {
          const uint32_t warp = below((count + 31) / 32), lanes = std::min(32u, count - warp * 32);
          const uint32_t have = lanes == 32 ? ~0u : (1u << lanes) - 1;
          uint32_t mask = partial && below(3) ? have & random() & (few_lanes ? 0xf : ~0u) : have;
          if (!mask) mask = 1;
          play.meet(warp, mask);
          std::vector<uint32_t> who;
          for (uint32_t i = 0; i < 32; ++i)
            if (mask >> i & 1) who.push_back(warp * 32 + i);
          oracle.meet(who);
        } else {
          const uint32_t thread = few_lanes ? below(std::min(count, 4u)) + (count > 36 && below(4) == 0 ? 32 : 0)
                                            : below(count);
          static const uint32_t whole[] = {4, 4, 4, 8, 16}, parts[] = {1, 2, 4, 8, 7, 12};
          const uint32_t size = bytes ? parts[below(6)] : whole[below(5)];
          const uint32_t align = size == 7 ? 1 : size == 12 ? 4 : size;
          const uintptr_t base = below(2) ? at(kOut) : shared_at(0);
          const uintptr_t address = base + below(words * 16 / align) * align;
          const Access kind = below(3) ? Access::read : below(2) ? Access::write : Access::atomic;
          bool races, must_tell;
          oracle.access(thread, kind, address, size, &races, &must_tell);
          reports.clear();
          play.access(thread, kind, address, size, base == at(kOut) ? Space::global : Space::shared, s);
          bool told = false;
          for (const Report& r : reports) told = told || r.code.rfind("race", 0) == 0;
          if ((must_tell && !told) || (told && !races)) {
            printf("seed %u, launch %d, block %u, step %u: %s\n", seed, l, b, s,
                   told ? "reports a race that is none" : "misses a race");
            ++failures;
            return;
          }
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t first = argc > 1 ? static_cast<uint32_t>(atoi(argv[1])) : 0;
  const uint32_t programs = argc > 2 ? static_cast<uint32_t>(atoi(argv[2])) : 3000;
  for (uint32_t seed = first; seed < first + programs && failures < 5; ++seed) play_one(seed);
  return failures != 0;
}
