// Right: cooperative groups: a tile of eight threads owns a query row, the block synchronises through its
// group.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int ROWS = 32;
constexpr int TILE = 32;
constexpr int SHARERS = 8;

__global__ void attend(const float* qkv, float* attnOut, int T) {
  __shared__ float k_smem[TILE][DH];
  __shared__ float v_smem[TILE][DH];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<SHARERS> team = cg::tiled_partition<SHARERS>(block);
  const int row0 = blockIdx.x * ROWS;
  const int row = row0 + static_cast<int>(block.thread_rank()) / SHARERS;
  const int c = team.thread_rank();
  const int head = blockIdx.y;
  const int kvHead = head / (HQ / HKV);

  float q[DH];
  for (int d = 0; d < DH; ++d) q[d] = row < T ? qkv[row * QKV_OUT + head * DH + d] * 0.125f : 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  float acc[DH / SHARERS] = {};
  for (int key0 = 0; key0 <= row0; key0 += TILE) {
    block.sync();  // the previous tile is no longer read
    for (unsigned x = block.thread_rank(); x < TILE * DH; x += block.size()) {
      const int j = key0 + x / DH;
      const int column = D + kvHead * DH + x % DH;
      k_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + column] : 0.0f;
      v_smem[x / DH][x % DH] = j < T ? qkv[j * QKV_OUT + KV + column] : 0.0f;
    }
    block.sync();  // the tile is complete
    for (int chunk = 0; chunk < TILE; chunk += SHARERS) {
      float score = 0.0f;
      for (int d = 0; d < DH; ++d) score += q[d] * k_smem[chunk + c][d];
      if (key0 + chunk + c > row) score = -INFINITY;
      float newMax = fmaxf(m, score);
      for (int step = SHARERS / 2; step > 0; step /= 2) newMax = fmaxf(newMax, team.shfl_xor(newMax, step));
      const float alpha = expf(m - newMax);
      const float p = expf(score - newMax);
      l = alpha * l + p;
      for (int n = 0; n < DH / SHARERS; ++n) acc[n] *= alpha;
      for (int n = 0; n < SHARERS; ++n) {
        const float weight = team.shfl(p, n);
        if (key0 + chunk + n > row) continue;  // the same for the whole team
        for (int e = 0; e < DH / SHARERS; ++e) acc[e] += weight * v_smem[chunk + n][e * SHARERS + c];
      }
      m = newMax;
    }
  }
  for (int step = SHARERS / 2; step > 0; step /= 2) l += team.shfl_xor(l, step);
  if (row < T) {
    for (int n = 0; n < DH / SHARERS; ++n) attnOut[row * D + head * DH + n * SHARERS + c] = acc[n] / l;
  }
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  attend<<<dim3((T + ROWS - 1) / ROWS, HQ), ROWS * SHARERS>>>(qkv, attnOut, T);
}
