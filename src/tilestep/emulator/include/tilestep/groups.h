// thread_block, thread_block_tile<N> and coalesced_group.
//
// A grid's threads cannot meet: blocks run one after the other. this_grid() therefore tells ranks and sizes, and its
// sync() does not compile. coalesced_threads() takes the lanes that could have come together at its call, which on a
// GPU is the most that it may return.
#pragma once

#include "block.h"
#include "group_warps.h"
#include "unavailable.h"

namespace cooperative_groups {

class thread_block {
 public:
  TILESTEP_INLINE static void sync() { tilestep_barrier(); }
  TILESTEP_INLINE static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  TILESTEP_INLINE static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  TILESTEP_INLINE static unsigned num_threads() { return size(); }
  TILESTEP_INLINE static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  TILESTEP_INLINE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  TILESTEP_INLINE static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  TILESTEP_INLINE static dim3 group_dim() { return dim_threads(); }

 private:
  thread_block() = default;
  friend thread_block this_thread_block();
};

TILESTEP_INLINE thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  TILESTEP_UNAVAILABLE("grid.sync() is not run by the emulator, which also records a GPU's launches: blocks run one after the other; use two launches")
  void sync() const;
  TILESTEP_INLINE static bool is_valid() { return false; }
  TILESTEP_INLINE static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  TILESTEP_INLINE static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  TILESTEP_INLINE static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  TILESTEP_INLINE static unsigned long long size() { return num_blocks() * thread_block::size(); }
  TILESTEP_INLINE static unsigned long long num_threads() { return size(); }
  TILESTEP_INLINE static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  TILESTEP_INLINE static dim3 dim_blocks() { return group_dim(); }
};

TILESTEP_INLINE grid_group this_grid() { return grid_group(); }

class coalesced_group : public warp_group {
 public:
  template <class T>
  TILESTEP_INLINE T shfl(T value, int rank) const {
    return tilestep_details::shuffle_any(mask_, value, tilestep_details::lane_of_rank(mask_, unsigned(rank) % size()));
  }
  template <class T>
  TILESTEP_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank < delta ? rank : rank - delta));
  }
  template <class T>
  TILESTEP_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, int(rank + delta >= size() ? rank : rank + delta));
  }
  TILESTEP_INLINE unsigned meta_group_rank() const { return meta_rank_; }
  TILESTEP_INLINE unsigned meta_group_size() const { return meta_size_; }

 private:
  TILESTEP_INLINE explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : warp_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned meta_rank_, meta_size_;

  friend coalesced_group coalesced_threads();
  friend coalesced_group tiled_partition(const thread_block&, unsigned);
};

TILESTEP_INLINE coalesced_group coalesced_threads() { return coalesced_group(tilestep_active_mask()); }

// `Size` neighbouring threads of the block, in one warp. `Parent`, what was cut into tiles, is a name only.
template <unsigned Size, class Parent = void>
class thread_block_tile : public warp_group {
  static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                "tilestep: a tile has 1, 2, 4, 8, 16 or 32 threads; larger tiles are not run by the emulator, which also records a GPU's launches");

 public:
  template <class OtherParent>
  TILESTEP_INLINE thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : warp_group(other.mask_), meta_rank_(other.meta_rank_), meta_size_(other.meta_size_) {}

  TILESTEP_INLINE static unsigned thread_rank() { return tilestep_lane() % Size; }
  TILESTEP_INLINE static constexpr unsigned size() { return Size; }
  TILESTEP_INLINE static constexpr unsigned num_threads() { return Size; }
  TILESTEP_INLINE unsigned meta_group_rank() const { return meta_rank_; }
  TILESTEP_INLINE unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  TILESTEP_INLINE T shfl(T value, int rank) const {
    return shuffled(value, tilestep::Shuffle::index, unsigned(rank));
  }
  template <class T>
  TILESTEP_INLINE T shfl_up(T value, unsigned delta) const {
    return shuffled(value, tilestep::Shuffle::up, delta);
  }
  template <class T>
  TILESTEP_INLINE T shfl_down(T value, unsigned delta) const {
    return shuffled(value, tilestep::Shuffle::down, delta);
  }
  template <class T>
  TILESTEP_INLINE T shfl_xor(T value, unsigned lane_mask) const {
    return shuffled(value, tilestep::Shuffle::exclusive_or, lane_mask);
  }

 private:
  TILESTEP_INLINE thread_block_tile(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : warp_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  template <class T>
  TILESTEP_INLINE T shuffled(T value, tilestep::Shuffle kind, unsigned delta) const {
    return tilestep_details::shuffle_any(mask_, value, tilestep::shuffle_source(kind, tilestep_lane(), delta, Size));
  }

  unsigned meta_rank_, meta_size_;

  template <unsigned Size_>
  friend thread_block_tile<Size_> tiled_partition(const thread_block&);
  template <unsigned Size_, unsigned ParentSize, class Parent_>
  friend thread_block_tile<Size_> tiled_partition(const thread_block_tile<ParentSize, Parent_>&);
  template <unsigned Size_, class Parent_>
  friend class thread_block_tile;
};

namespace tilestep_details {

// The lanes of the calling thread's tile of `size` threads, a power of two.
TILESTEP_INLINE unsigned tile_mask(unsigned size) {
  return (size == 32 ? ~0u : (1u << size % 32) - 1u) << (tilestep_lane() / size * size);
}

}  // namespace tilestep_details

template <unsigned Size>
TILESTEP_INLINE thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {tilestep_details::tile_mask(Size), thread_block::thread_rank() / Size, (thread_block::size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Parent>
TILESTEP_INLINE thread_block_tile<Size> tiled_partition(const thread_block_tile<ParentSize, Parent>&) {
  static_assert(Size <= ParentSize, "tilestep: a tile is cut into tiles of at most its own size");
  return {tilestep_details::tile_mask(Size), tilestep_lane() % ParentSize / Size, ParentSize / Size};
}
TILESTEP_INLINE coalesced_group tiled_partition(const thread_block&, unsigned size) {
  return coalesced_group(tilestep_details::tile_mask(size), thread_block::thread_rank() / size,
                         (thread_block::size() + size - 1) / size);
}

template <class Group>
TILESTEP_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
TILESTEP_INLINE unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
TILESTEP_INLINE unsigned long long group_size(const Group& group) {
  return group.size();
}

template <class... Any>
TILESTEP_UNAVAILABLE("cooperative_groups::memcpy_async is not run by the emulator, which also records a GPU's launches; copy through registers and sync()")
void memcpy_async(Any&&...);
template <class... Any>
TILESTEP_UNAVAILABLE("clusters are not run by the emulator, which also records a GPU's launches")
void this_cluster(Any&&...);

}  // namespace cooperative_groups
