// All checkers of the checked build, behind the one listener that the machine knows (../runtime/events.h).
//
// The usual access, aligned, inside and initialised, is settled here by one look at its bytes' states and
// one look at its words' records. Everything else goes to the class that can say what is wrong. There must be one
// `Checkers` a process, and one OS thread that emits.
#pragma once

#include "alignment.h"
#include "barriers.h"
#include "bounds.h"
#include "byte_states.h"
#include "events.h"
#include "initialised.h"
#include "inputs.h"
#include "races.h"
#include "shuffle_masks.h"

namespace tilestep {

class Checkers {
 public:
  void launch_begin(const LaunchInfo&) {
    global_.launch_begin();
    shared_.launch_begin();
    races_.launch_begin();
  }

  void block_begin(const Block& block) {
    shared_.block_begin();
    races_.block_begin(block);
  }

  TILESTEP_HOT bool access(const MemoryEvent& event, const Thread& thread, const Block& block) {
    if (event.space == Space::shared) {
      uint8_t* states = shared_.at(event.address);
      if (__builtin_expect(!settled(states, event), 0)) {
        const Next next = look_closer(states, event, thread, block);
        if (next != Next::race) return next == Next::go_on;
      }
      races_.access_shared(event, thread, block);
      return true;
    }
    if (event.space == Space::global) {
      uint8_t* states = global_.at(event.address);
      if (__builtin_expect(!settled(states, event), 0)) {
        const Next next = look_closer(states, event, thread, block);
        if (next != Next::race) return next == Next::go_on;
      } else if (*states & kReadOnly) {
        return true;  // an input that nobody may write has no races
      }
      races_.access_global(event, thread, block);
      return true;
    }
    return access_variable(event, thread, block);
  }

  void block_barrier(const Thread* threads, const Block& block) {
    barriers_.block_barrier(threads, block);
    races_.block_barrier();
  }
  void warp_rendezvous(uint32_t warp, uint32_t, uint32_t arrived, uintptr_t, const Block&) {
    races_.meet(warp, arrived);
  }
  void exchange_without(uint32_t warp, uint32_t exited, uintptr_t pc, const Block& block) {
    shuffle_masks_.exchange_without(warp, exited, pc, block);
  }
  void mask_without_caller(const Thread& thread, uint32_t mask, uintptr_t pc, const Block& block) {
    shuffle_masks_.mask_without_caller(thread, mask, pc, block);
  }
  void fence(const Thread& thread, const Block&) { races_.fence(thread); }
  void memory_written(uintptr_t address, size_t bytes) { global_.written(address, bytes); }

  void thread_exit(const Thread&, const Block&) {}
  void block_end(const Block&) {}
  void launch_end(const LaunchInfo&) {}
  void run_end() {}

 private:
  enum class Next { stop, go_on, race };  // the access must not happen; is done with; is to be checked for races

  // Nothing to say about an access; a write has been noted.
  TILESTEP_HOT static bool settled(uint8_t* states, const MemoryEvent& event) {
    if (event.size > 16 || !Alignment::is_aligned(event.address, event.size)) return false;
    if (event.kind == Access::read) return states_are(states, event.size, kInside | kInitialised, 0);
    if (event.kind == Access::atomic) return states_are(states, event.size, kInside | kInitialised, kReadOnly);
    if (states_are(states, event.size, kInside | kInitialised, kReadOnly)) return true;
    if (!states_are(states, event.size, kInside, kReadOnly)) return false;
    Initialised::mark(states, event.size);
    return true;
  }

  __attribute__((noinline)) Next look_closer(uint8_t* states, const MemoryEvent& event, const Thread& thread,
                                             const Block& block) {
    if (event.space == Space::shared && shared_.discover() && settled(states, event)) return Next::race;
    if (!Alignment::is_aligned(event.address, event.size) && !alignment_.check(event, thread, block)) return Next::stop;
    if (!Bounds::inside(states, event.size)) return bounds_.check(states, event, thread, block) ? Next::go_on : Next::stop;
    if (event.kind != Access::write) initialised_.check(states, event, thread, block);
    if (event.kind != Access::read) {
      // Reads of an input are not kept, so a write has nothing to race with.
      if (inputs_.check(states, event, thread, block)) return Next::go_on;
      Initialised::mark(states, event.size);
    }
    return *states & kReadOnly ? Next::go_on : Next::race;
  }

  __attribute__((noinline)) bool access_variable(const MemoryEvent& event, const Thread& thread, const Block& block) {
    if (!Alignment::is_aligned(event.address, event.size) && !alignment_.check(event, thread, block)) return false;
    if (event.space == Space::constant) {
      inputs_.check_constant(event, thread, block);
    } else {
      races_.access_variable(event, thread, block);
    }
    return true;
  }

  GlobalStates global_;
  SharedStates shared_;
  Bounds bounds_;
  Initialised initialised_;
  Alignment alignment_;
  Inputs inputs_;
  Barriers barriers_;
  ShuffleMasks shuffle_masks_;
  Races races_;
};

}  // namespace tilestep
