// How blocks of one launch can be ordered after all: one writes, passes a __threadfence() and then makes an atomic on some
// word; another one comes to the same word with an atomic of its own and so is after everything that was published.
// The block that finishes last and adds up what the others left does it so.
//
// A block is taken as a whole where that is simpler: what its other threads did before its last barrier counts as
// published too, and all its threads have come to a word once one of them has, and a barrier has been passed.
#pragma once

#include <cstdint>

#include "shadow_memory.h"

namespace tilestep {

class Publications {
 public:
  void launch_begin() {
    ++launch_;
    published_.clear();
    words_ = 0;
  }
  void block_begin(uint32_t block_first) {
    block_first_ = block_first;
    met_.clear();
  }
  void fence(uint32_t thread) { fenced_[thread] = block_first_; }

  // An atomic on a word of global memory.
  void atomic(uintptr_t word, uint32_t thread, uint32_t now) {
    if (words_ != 0 && find(word)) meet(word, thread, now);
    if (fenced_[thread] == block_first_) publish(word, thread, now);
  }

  // Whether what `thread` of an earlier block did in `phase` was published to `me`, in phase `now` of the running block.
  // UINT32_MAX stands for several threads.
  bool reached(uint32_t phase, uint32_t thread, uint32_t me, uint32_t now) const {
    for (uint32_t i = 0; i < met_.size(); ++i) {
      const Meeting& meeting = met_[i];
      if (meeting.phase == now && !meeting.several && meeting.thread != me) continue;
      for (uint32_t at = find(meeting.word)->newest; at; at = published_[at - 1].older) {
        const Publication& one = published_[at - 1];
        if (one.block_first <= phase && (phase < one.phase || (phase == one.phase && thread == one.thread))) return true;
      }
    }
    return false;
  }

 private:
  struct Publication {
    uint32_t block_first, phase, thread;
    uint32_t older;  // 1 + its number; 0 for none
  };
  struct Word {
    uintptr_t address;
    uint32_t launch, newest;
  };
  struct Meeting {
    uintptr_t word;
    uint32_t phase, thread;
    bool several;
  };
  static constexpr uint32_t kTable = 1u << 16;

  static uint32_t slot_of(uintptr_t word) { return static_cast<uint32_t>((word * 0x9e3779b97f4a7c15u) >> 48); }

  Word* find(uintptr_t word) const {
    for (uint32_t at = slot_of(word);; at = (at + 1) % kTable) {
      if (table_[at].launch != launch_) return nullptr;
      if (table_[at].address == word) return &table_[at];
    }
  }

  void publish(uintptr_t word, uint32_t thread, uint32_t now) {
    if (!table_) table_ = map_shadow<Word>(kTable);
    Word* found = find(word);
    if (!found) {
      if (words_ == kTable / 2) return;  // more words than any hand-over needs
      ++words_;
      uint32_t at = slot_of(word);
      while (table_[at].launch == launch_) at = (at + 1) % kTable;
      found = &table_[at];
      *found = {word, launch_, 0};
    }
    const uint32_t number = published_.add();
    published_[number] = {block_first_, now, thread, found->newest};
    found->newest = number + 1;
  }

  void meet(uintptr_t word, uint32_t thread, uint32_t now) {
    for (uint32_t i = 0; i < met_.size(); ++i) {
      if (met_[i].word != word) continue;
      if (met_[i].phase == now && met_[i].thread != thread) met_[i].several = true;
      return;
    }
    met_[met_.add()] = {word, now, thread, false};
  }

  uint32_t launch_ = 0, block_first_ = 0, words_ = 0;
  uint32_t fenced_[1024] = {};  // the block, by its first phase, in which a thread has last passed a fence
  Word* table_ = nullptr;
  Pool<Publication, 1024> published_;
  Pool<Meeting, 64> met_;
};

}  // namespace tilestep
