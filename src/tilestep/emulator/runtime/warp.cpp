// What the lanes of a warp do together: exchange values, synchronise, find out who is there.
#include <string.h>

#include "access.h"
#include "machine.h"

namespace tilestep {

static Meeting& find_or_open(Warp& warp, uint32_t mask, uint8_t& index) {
  for (uint32_t open = warp.open; open != 0; open &= open - 1) {
    const uint32_t i = uint32_t(__builtin_ctz(open));
    if (warp.meetings[i].mask == mask) {
      index = uint8_t(i);
      return warp.meetings[i];
    }
  }
  const uint32_t i = uint32_t(__builtin_ctz(~warp.used));
  Meeting& meeting = warp.meetings[i];
  warp.open |= 1u << i;
  warp.used |= 1u << i;
  meeting.mask = mask;
  meeting.arrived = meeting.holders = 0;
  meeting.exchanges = false;
  index = uint8_t(i);
  return meeting;
}

void leave_meeting(Machine& m, uint32_t thread) {
  const uint8_t index = m.held[thread];
  if (index == kNoMeeting) return;
  m.held[thread] = kNoMeeting;
  Warp& warp = m.warps[thread / kLanes];
  if ((warp.meetings[index].holders &= ~(1u << thread % kLanes)) == 0) warp.used &= ~(1u << index);
}

static void close(Machine& m, uint32_t w, uint32_t index) {
  Warp& warp = m.warps[w];
  Meeting& meeting = warp.meetings[index];
  warp.open &= ~(1u << index);
  const uint32_t absent = meeting.mask & ~meeting.arrived;
  if (absent != 0 && meeting.exchanges) {
    for (uint32_t rest = absent; rest != 0; rest &= rest - 1) memset(meeting.slots[__builtin_ctz(rest)], 0, kSlotBytes);
    if (checking()) listener.exchange_without(w, absent, meeting.pc, m.block);
  }
  if (checking()) listener.warp_rendezvous(w, meeting.mask, meeting.arrived, meeting.pc, m.block);
  // Last in, first out: push the last lane of the order first.
  const uint32_t lanes = m.block.threads - w * kLanes;
  for (int i = int(lanes < kLanes ? lanes : kLanes) - 1; i >= 0; --i) {
    const uint32_t lane = m.lane_order[w][i];
    if (meeting.arrived >> lane & 1u) m.woken[m.woken_count++] = uint16_t(w * kLanes + lane);
  }
}

void release_meetings_without(Machine& m, uint32_t w) {
  Warp& warp = m.warps[w];
  for (uint32_t open = warp.open; open != 0; open &= open - 1) {
    const uint32_t i = uint32_t(__builtin_ctz(open));
    if (warp.meetings[i].arrived == (warp.meetings[i].mask & warp.live)) close(m, w, i);
  }
}

// Arrives, waits for the others, and returns the slots.
TILESTEP_INLINE Meeting& meet(Machine& m, uint32_t mask, const void* value, uint32_t size, uintptr_t pc) {
  const uint32_t self = m.current, w = self / kLanes, lane = self % kLanes, bit = 1u << lane;
  Warp& warp = m.warps[w];
  leave_meeting(m, self);
  if ((mask & bit) == 0) {
    // Undefined on a GPU. Reported; then the lane goes on alone.
    if (checking()) listener.mask_without_caller(m.threads[self], mask, pc, m.block);
    mask = bit;
  }
  uint8_t index;
  Meeting& meeting = find_or_open(warp, mask, index);
  m.held[self] = index;
  if (meeting.arrived == 0) meeting.pc = pc;
  meeting.arrived |= bit;
  meeting.holders |= bit;
  if (value) {
    meeting.exchanges = true;
    if (size == 4) {
      memcpy(meeting.slots[lane], value, 4);
    } else {
      memcpy(meeting.slots[lane], value, size <= kSlotBytes ? size : kSlotBytes);
    }
  }
  if (meeting.arrived == (mask & warp.live)) close(m, w, index);
  run_others(m);
  return meeting;
}

void release_converging(Machine& m) {
  // Lanes of one warp that ask at the same place are taken to have arrived together.
  for (uint32_t i = 0; i < m.converging_count; ++i) {
    const uint32_t thread = m.converging[i];
    uint32_t together = 0;
    for (uint32_t k = 0; k < m.converging_count; ++k) {
      const uint32_t other = m.converging[k];
      if (other / kLanes == thread / kLanes && m.threads[other].barrier_pc == m.threads[thread].barrier_pc) {
        together |= 1u << other % kLanes;
      }
    }
    m.converged_mask[thread] = together;
  }
  // In the order of a phase, whoever came first.
  for (uint32_t i = m.converging_count; i > 0; --i) m.woken[m.woken_count++] = m.converging[i - 1];
  m.converging_count = 0;
}

}  // namespace tilestep

using namespace tilestep;

extern "C" const void* tilestep_warp_exchange(unsigned mask, const void* value, unsigned size) {
  return meet(*machine, mask, value, size, TILESTEP_CALLER).slots;
}

extern "C" void tilestep_warp_sync(unsigned mask) { meet(*machine, mask, nullptr, 0, TILESTEP_CALLER); }

// Which lanes are active is the GPU's affair. Here: those that stand at the same call once no other thread of the block
// can go on, so as many as could have come together.
extern "C" unsigned tilestep_active_mask() {
  Machine& m = *machine;
  const uint32_t self = m.current;
  m.threads[self].barrier_pc = TILESTEP_CALLER;
  m.converging[m.converging_count++] = uint16_t(self);
  run_others(m);
  return m.converged_mask[self];
}

extern "C" unsigned tilestep_lane() { return machine->current % kLanes; }
