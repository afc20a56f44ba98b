// One state for every byte of global and shared memory: bounds, initialisation and writes to inputs are all
// answered by the same look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "memory.h"
#include "shadow_memory.h"

namespace tilestep {

enum ByteState : uint8_t {
  kInside = 1,       // belongs to a buffer or an array
  kInitialised = 2,  // has been written
  kReadOnly = 4,     // belongs to an input
};

// `need` in every one of `size` (1, 2, 4, 8 or 16) state bytes and `forbid` in none.
template <class Word>
inline bool states_are(const uint8_t* states, uint8_t need, uint8_t forbid) {
  constexpr Word ones = static_cast<Word>(~Word{0}) / 255;
  Word word;
  memcpy(&word, states, sizeof word);
  return (word & static_cast<Word>(ones * static_cast<uint8_t>(need | forbid))) == static_cast<Word>(ones * need);
}

inline bool states_are(const uint8_t* states, uint32_t size, uint8_t need, uint8_t forbid) {
  switch (size) {
    case 1: return states_are<uint8_t>(states, need, forbid);
    case 2: return states_are<uint16_t>(states, need, forbid);
    case 4: return states_are<uint32_t>(states, need, forbid);
    case 8: return states_are<uint64_t>(states, need, forbid);
    case 16:
      return states_are<uint64_t>(states, need, forbid) && states_are<uint64_t>(states + 8, need, forbid);
    default:
      for (uint32_t i = 0; i < size; ++i)
        if (!states_are<uint8_t>(states + i, need, forbid)) return false;
      return true;
  }
}

// The states of the arena. Buffers are entered at each launch: a seam may have asked for scratch since.
class GlobalStates {
 public:
  void launch_begin() {
    if (!states_) {
      begin_ = arena_begin();
      size_ = arena_end() - begin_;
      states_ = map_shadow<uint8_t>(size_ + 16);
    }
    for (; known_ < buffer_count(); ++known_) enter(buffer_at(known_));
  }
  // Written by a memset or a copy of the plan.
  void written(uintptr_t address, size_t bytes) {
    launch_begin();
    if (address - begin_ >= size_ || bytes > size_ - (address - begin_)) return;
    uint8_t* states = at(address);
    for (size_t i = 0; i < bytes; ++i)
      if (states[i] & kInside) states[i] |= kInitialised;
  }
  uint8_t* at(uintptr_t address) { return states_ + (address - begin_); }

 private:
  void enter(const Buffer& buffer) {
    uint8_t state = kInside;
    if (buffer.initialised) state |= kInitialised;
    if (buffer.is_input) state |= kReadOnly;
    uint8_t* states = at(buffer.begin);
    const size_t bytes = buffer.end - buffer.begin;
    // A memset may have come before the first launch.
    for (size_t i = 0; i < bytes; ++i) states[i] |= state;
  }

  uint8_t* states_ = nullptr;
  uintptr_t begin_ = 0;
  size_t size_ = 0;
  int known_ = 0;
};

// The states of the block's shared segment. An array is entered when it is first touched: a __shared__ declaration
// is known only from the first time that a thread passes it.
class SharedStates {
 public:
  void launch_begin() {
    if (!states_) states_ = map_shadow<uint8_t>(kSharedSegment + 16);
    memset(states_, 0, used_);
    known_ = 0;
    used_ = 0;
  }
  // A new block finds every array uninitialised.
  void block_begin() {
    begin_ = shared_begin();
    for (int i = 0; i < known_; ++i) enter(shared_array_at(i));
  }
  // True when the machine knows arrays that were not entered yet; the caller then looks again.
  bool discover() {
    if (known_ >= shared_array_count()) return false;
    for (; known_ < shared_array_count(); ++known_) enter(shared_array_at(known_));
    return true;
  }
  uint8_t* at(uintptr_t address) { return states_ + (address - begin_); }

 private:
  void enter(const SharedArray& array) {
    memset(states_ + array.begin, kInside, array.end - array.begin);
    if (array.end > used_) used_ = array.end;
  }

  uint8_t* states_ = nullptr;
  uintptr_t begin_ = 0;
  uint32_t used_ = 0;
  int known_ = 0;
};

}  // namespace tilestep
