// Two accesses to the same byte, at least one of them a write and not both atomic, with nothing that orders them.
//
// They are ordered when made by the same thread; by threads of one block with a barrier in between; by lanes of one warp
// that have met in between; or in different launches. Threads of different blocks of one launch are only by what one
// has published to the other (publications.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lane_clocks.h"
#include "memory.h"
#include "phases.h"
#include "places.h"
#include "publications.h"
#include "race_records.h"
#include "report.h"
#include "shadow_memory.h"

#define TILESTEP_HOT inline __attribute__((always_inline))

namespace tilestep {

class Races {
 public:
  void launch_begin() {
    if (!global_.cells) {
      global_ = Shadow::over(arena_begin(), arena_end() - arena_begin());
      shared_ = Shadow::over(0, kSharedSegment);
    }
    phases_.launch_begin();
    publications_.launch_begin();
  }
  void block_begin(const Block& block) {
    shared_.begin = shared_begin();
    phases_.block_begin(block.linear);
    clocks_.block_begin(block.threads);
    publications_.block_begin(phases_.block_first());
    apart_.clear();
  }
  void block_barrier() {
    phases_.barrier();
    clocks_.phase_begin();
    apart_.clear();
  }
  void meet(uint32_t warp, uint32_t arrived) { clocks_.meet(warp, arrived); }
  void fence(const Thread& thread) { publications_.fence(thread.linear); }

  TILESTEP_HOT void access_global(const MemoryEvent& event, const Thread& thread, const Block& block) {
    access(global_, phases_.launch_first(), event, thread, block);
  }
  // Shared memory is a block's own: what an earlier block left there is nobody's.
  TILESTEP_HOT void access_shared(const MemoryEvent& event, const Thread& thread, const Block& block) {
    access(shared_, phases_.block_first(), event, thread, block);
  }
  void access_variable(const MemoryEvent& event, const Thread& thread, const Block& block) {
    const DeviceVariable* variable = find_variable(event.address);
    if (!variable) return;
    access(shadow_of(*variable), phases_.launch_first(), event, thread, block);
  }

 private:
  // Cells for a stretch of memory, one a word.
  struct Shadow {
    uintptr_t begin;
    Cell* cells;
    Accessors* atomics;

    static Shadow over(uintptr_t begin, size_t bytes) {
      const size_t words = (bytes + 3) / 4 + 4;
      return {begin, map_shadow<Cell>(words), map_shadow<Accessors>(words)};
    }
  };

  // The running access.
  struct Actor {
    const LaneClocks::Warp& warp;
    uint32_t thread, lane, pc;
    uint32_t now, block_first;
    uint32_t oldest;  // phases before it are over for this memory

    uint32_t stamp() const { return LaneClocks::stamp(warp, lane); }
    uint32_t who() const { return pack_who(thread, Crowd::lanes, stamp()); }
    uint32_t bit() const { return 1u << lane; }
    bool shares_warp_with(uint32_t other) const { return ((other ^ thread) & ~31u) == 0; }
    bool has_seen(uint32_t other_lane, uint32_t at) const {
      return other_lane == lane || LaneClocks::has_seen(warp, lane, other_lane, at);
    }
  };

  // The first conflict of an access: with whom, when and where.
  struct Conflict {
    Access earlier;
    uint32_t phase, thread, pc;  // phase 0: none
    const void* record;          // the cell or set that told
  };

  TILESTEP_HOT void access(Shadow& shadow, uint32_t oldest, const MemoryEvent& event, const Thread& thread,
                           const Block& block) {
    const Actor me{clocks_.warp(thread.warp), thread.linear,         thread.lane, static_cast<uint32_t>(event.pc),
                   phases_.now(),             phases_.block_first(), oldest};
    Conflict conflict;
    conflict.phase = 0;
    const uintptr_t offset = event.address - shadow.begin;
    if (((offset | event.size) & 3) == 0) {
      Cell* cell = shadow.cells + offset / 4;
      Accessors* atomics = shadow.atomics + offset / 4;
      for (uint32_t words = event.size / 4; words; --words) touch(*cell++, *atomics++, event.kind, me, conflict);
    } else {
      touch_bytes(shadow, offset, event.size, event.kind, me, conflict);
    }
    if (event.kind == Access::atomic && event.space != Space::shared)
      publications_.atomic(event.address, thread.linear, phases_.now());
    if (__builtin_expect(conflict.phase != 0, 0)) tell(conflict, shadow, event, thread, block);
  }

  TILESTEP_HOT void touch(Cell& cell, Accessors& atomics, Access kind, const Actor& me, Conflict& conflict) {
    if (__builtin_expect(cell.more != 0 || kind == Access::atomic, 0)) {
      touch_rarely(cell, atomics, kind, me, conflict);
    } else if (kind == Access::read) {
      after_write(cell, me, conflict);
      join(cell.readers, me);
    } else {
      after_write(cell, me, conflict);
      after(cell.readers, Access::read, me, conflict);
      become_last_write(cell, me);
    }
  }

  __attribute__((noinline)) void touch_rarely(Cell& cell, Accessors& atomics, Access kind, const Actor& me,
                                              Conflict& conflict) {
    if (cell.more & kSplit) {
      ByteCells& bytes = bytes_[cell.more >> 2];
      for (int i = 0; i < 4; ++i) touch_whole(bytes.cells[i], bytes.atomics[i], kind, me, conflict);
    } else {
      touch_whole(cell, atomics, kind, me, conflict);
    }
  }

  // Everything that can happen to a cell that is not split.
  void touch_whole(Cell& cell, Accessors& atomics, Access kind, const Actor& me, Conflict& conflict) {
    after_write(cell, me, conflict);
    if (kind == Access::atomic) {
      after(cell.readers, Access::read, me, conflict);
      if (!(cell.more & kHasAtomics)) {
        cell.more |= kHasAtomics;
        atomics = Accessors{};
      }
      join(atomics, me);
      return;
    }
    if (cell.more & kHasAtomics) {
      after(atomics, Access::atomic, me, conflict);
      if (atomics.phase < me.oldest) cell.more &= ~kHasAtomics;
    }
    if (kind == Access::read) {
      join(cell.readers, me);
    } else {
      after(cell.readers, Access::read, me, conflict);
      become_last_write(cell, me);
      cell.more &= ~kHasAtomics;
    }
  }

  // An access that covers parts of words.
  __attribute__((noinline)) void touch_bytes(Shadow& shadow, uintptr_t offset, uint32_t size, Access kind,
                                             const Actor& me, Conflict& conflict) {
    const uintptr_t end = offset + size;
    while (offset < end) {
      const uintptr_t word = offset / 4;
      const uintptr_t stop = (word + 1) * 4 < end ? (word + 1) * 4 : end;
      Cell& cell = shadow.cells[word];
      if (stop - offset == 4) {
        touch(cell, shadow.atomics[word], kind, me, conflict);
      } else {
        if (!(cell.more & kSplit)) split(cell, shadow.atomics[word]);
        ByteCells& bytes = bytes_[cell.more >> 2];
        for (uintptr_t i = offset; i < stop; ++i) touch_whole(bytes.cells[i & 3], bytes.atomics[i & 3], kind, me, conflict);
      }
      offset = stop;
    }
  }

  // From here on the word's bytes are told apart.
  void split(Cell& cell, const Accessors& atomics) {
    const uint32_t index = bytes_.add();
    for (int i = 0; i < 4; ++i) {
      bytes_[index].cells[i] = cell;
      bytes_[index].atomics[i] = atomics;
    }
    cell.more = kSplit | index << 2;
  }

  TILESTEP_HOT static void become_last_write(Cell& cell, const Actor& me) {
    cell.write_phase = me.now;
    cell.write_who = me.who();
    cell.write_pc = me.pc;
    // Who read before this write is ordered before it, or has been reported: later accesses answer to the write alone.
    cell.readers.phase = 0;
  }

  // Finds a conflict when this access is not ordered after the last plain write.
  TILESTEP_HOT void after_write(const Cell& cell, const Actor& me, Conflict& conflict) const {
    const uint32_t phase = cell.write_phase;
    if (phase < me.oldest) return;
    const uint32_t other = thread_of(cell.write_who);
    if (phase == me.now) {
      if (other == me.thread) return;
      if (me.shares_warp_with(other) && me.has_seen(other & 31, stamp_of(cell.write_who))) return;
    } else if (phase >= me.block_first || publications_.reached(phase, other, me.thread, me.now)) {
      return;
    }
    if (!conflict.phase) conflict = {Access::write, phase, other, cell.write_pc, &cell};
  }

  // Finds a conflict when this access is not ordered after every member of a set.
  TILESTEP_HOT void after(const Accessors& set, Access earlier, const Actor& me, Conflict& conflict) {
    if (set.phase < me.oldest) return;
    if (set.phase != me.now && set.phase >= me.block_first) return;
    after_members(set, earlier, me, conflict);
  }

  void after_members(const Accessors& set, Access earlier, const Actor& me, Conflict& conflict) {
    uint32_t other = thread_of(set.who), pc = set.pc;
    if (set.phase == me.now) {
      if (crowd_of(set.who) == Crowd::warps) {
        if (me.shares_warp_with(other)) {
          other = stamp_of(set.who);
          pc = set.lanes;
        }
      } else if (me.shares_warp_with(other)) {
        const int lane = unseen_lane(set, me);
        if (lane < 0) return;
        other = (other & ~31u) | static_cast<uint32_t>(lane);
      }
    } else if (reached(set, me)) {
      return;
    }
    if (!conflict.phase) conflict = {earlier, set.phase, other, pc, &set};
  }

  // Whether a set of another block was published to this thread.
  bool reached(const Accessors& set, const Actor& me) const {
    const bool alone = crowd_of(set.who) == Crowd::lanes && (set.lanes & (set.lanes - 1)) == 0;
    return publications_.reached(set.phase, alone ? thread_of(set.who) : UINT32_MAX, me.thread, me.now);
  }

  // A lane of the set, of this warp and phase, that this access is not ordered after; -1 when there is none.
  int unseen_lane(const Accessors& set, const Actor& me) const {
    if (crowd_of(set.who) == Crowd::lanes) {
      const uint32_t stamp = stamp_of(set.who);
      for (uint32_t rest = set.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (!me.has_seen(lane, stamp)) return static_cast<int>(lane);
      }
      return -1;
    }
    const LaneStamps& stamps = apart_[set.lanes];
    for (uint32_t rest = stamps.mask; rest; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
      if (!me.has_seen(lane, stamps.stamp[lane])) return static_cast<int>(lane);
    }
    return -1;
  }

  // Adds this access to a set of reads, or of atomics.
  TILESTEP_HOT void join(Accessors& set, const Actor& me) {
    if (set.phase == me.now) {
      if (crowd_of(set.who) == Crowd::warps) return;
      if (set.who == me.who()) return;
      join_phase(set, me);
    } else if (set.phase < me.oldest || set.phase >= me.block_first || reached(set, me)) {
      set = {me.now, me.who(), me.pc, me.bit()};
    }
    // Else another block of this launch is in the set: every write from here on conflicts with it already.
  }

  void join_phase(Accessors& set, const Actor& me) {
    const uint32_t first = thread_of(set.who);
    if (!me.shares_warp_with(first)) {
      set.who = pack_who(first, Crowd::warps, me.thread);
      set.lanes = me.pc;
    } else if (crowd_of(set.who) == Crowd::lanes && stamp_of(set.who) == me.stamp()) {
      set.lanes |= me.bit();
    } else if (unseen_lane(set, me) < 0) {
      // Whoever comes after this access comes after all of them.
      set.who = me.who();
      set.pc = me.pc;
      set.lanes = me.bit();
    } else {
      join_apart(set, me);
    }
  }

  void join_apart(Accessors& set, const Actor& me) {
    if (crowd_of(set.who) == Crowd::lanes) {
      const uint32_t index = apart_.add();
      LaneStamps& stamps = apart_[index];
      stamps.mask = set.lanes;
      for (uint32_t& stamp : stamps.stamp) stamp = stamp_of(set.who);
      set.who = pack_who(thread_of(set.who), Crowd::apart, 0);
      set.lanes = index;
    }
    LaneStamps& stamps = apart_[set.lanes];
    stamps.mask |= me.bit();
    stamps.stamp[me.lane] = me.stamp();
  }

  __attribute__((noinline)) void tell(const Conflict& conflict, const Shadow& shadow, const MemoryEvent& event,
                                      const Thread& thread, const Block& block) {
    static const char* const details[3][3] = {{"read-read", "read-write", "read-atomic"},
                                              {"write-read", "write-write", "write-atomic"},
                                              {"atomic-read", "atomic-write", "atomic-atomic"}};
    const Place place = place_of(address_of(conflict, shadow, event), event.space);
    // Only the low half of the other program counter was kept; the submission is far smaller than 2 GB.
    const uintptr_t other_pc =
        event.pc + static_cast<uintptr_t>(static_cast<intptr_t>(static_cast<int32_t>(
                       conflict.pc - static_cast<uint32_t>(event.pc))));
    const bool same_block = conflict.phase >= phases_.block_first();
    report(Finding{event.space == Space::shared ? "race-shared" : "race-global", place.array, place.element, event.pc,
                   other_pc, thread.linear, conflict.thread, block.linear,
                   same_block ? block.linear : phases_.block_of(conflict.phase),
                   details[static_cast<int>(conflict.earlier)][static_cast<int>(event.kind)]});
  }

  // The word of a wide access that the conflict is about.
  static uintptr_t address_of(const Conflict& conflict, const Shadow& shadow, const MemoryEvent& event) {
    const uintptr_t first = (event.address - shadow.begin) / 4;
    for (uintptr_t word = first; word * 4 < event.address - shadow.begin + event.size; ++word) {
      const Cell& cell = shadow.cells[word];
      if (conflict.record == &cell || conflict.record == &cell.readers || conflict.record == &shadow.atomics[word])
        return word == first ? event.address : shadow.begin + word * 4;
    }
    return event.address;
  }

  Shadow& shadow_of(const DeviceVariable& variable) {
    for (uint32_t i = 0; i < variables_.size(); ++i)
      if (variables_[i].variable == &variable) return variables_[i].shadow;
    VariableShadow& added = variables_[variables_.add()];
    added.variable = &variable;
    // Words are counted from a multiple of 4 below the variable, so that an int keeps to one cell.
    const uintptr_t begin = reinterpret_cast<uintptr_t>(variable.address) & ~uintptr_t{15};
    added.shadow = Shadow::over(begin, variable.size + 16);
    return added.shadow;
  }

  struct VariableShadow {
    const DeviceVariable* variable;
    Shadow shadow;
  };

  Phases phases_;
  LaneClocks clocks_;
  Publications publications_;
  Shadow global_{}, shared_{};
  Pool<VariableShadow, 256> variables_;
  Pool<ByteCells, 4096> bytes_;
  Pool<LaneStamps, 4096> apart_;
};

}  // namespace tilestep
