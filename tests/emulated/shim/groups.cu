// Cooperative groups. Every thread writes its results, one row a result.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Works for any group that shuffles.
template <class Group>
__device__ float sumOf(const Group& group, float x) {
  for (unsigned d = group.size() / 2; d > 0; d /= 2) x += group.shfl_down(x, d);
  return group.shfl(x, 0);
}

__global__ void groups(const float* in, float* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8, cg::thread_block_tile<32>> eight = cg::tiled_partition<8>(warp);
  const unsigned i = block.thread_rank();
  const float x = in[i];
  int row = 0;
  auto put = [&](float value) { out[64 * row++ + i] = value; };
  put(block.size());
  put(warp.thread_rank());
  put(warp.meta_group_rank());
  put(warp.meta_group_size());
  put(eight.thread_rank());
  put(eight.meta_group_rank());
  put(eight.meta_group_size());
  put(sumOf(warp, x));
  put(sumOf(eight, x));
  put(cg::reduce(warp, x, cg::plus<float>()));
  put(cg::reduce(eight, x, cg::greater<float>()));
  put(cg::reduce(eight, (int)x, cg::less<int>()));
  put(eight.shfl_up(x, 1));
  put(eight.shfl_xor(x, 3));
  put(eight.ballot((int)x % 3 == 0));
  put(eight.any(x == 9.0f));
  put(eight.all(x < 32.0f));
  put(warp.shfl(make_float4(x, x + 1, x + 2, x + 3), 5).z);
  struct Wide {
    double a, b, c;
  };
  put((float)warp.shfl(Wide{x, x, x + 0.5}, 7).c);
  cg::sync(eight);
  warp.sync();
  block.sync();
  put(cg::this_grid().thread_rank());
  if (i % 4 == 1) {
    auto here = cg::coalesced_threads();
    put(here.size());
    put(here.thread_rank());
    put(here.shfl(x, 2));
    put(cg::reduce(here, (int)x, cg::plus<int>()));
    put(here.shfl_down(x, 1));
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int) {
  groups<<<dim3(1, 1), dim3(16, 4)>>>(qkv, attnOut);
}
