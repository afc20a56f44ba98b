// Right: the lanes fold in a shared array, with __syncwarp between the levels.

constexpr int WARPS = 3;

__global__ void fold(const float* x, float* sums, float* maxima, int rows, int columns) {
  __shared__ float2 tree[WARPS][32];
  const int lane = threadIdx.x;
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) return;
  float2* mine = tree[threadIdx.y];
  float2 both = make_float2(0.0f, -INFINITY);
  for (int c = lane; c < columns; c += 32) {
    both.x += x[row * columns + c];
    both.y = fmaxf(both.y, x[row * columns + c]);
  }
  mine[lane] = both;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) {
      mine[lane] = make_float2(mine[lane].x + mine[lane + half].x, fmaxf(mine[lane].y, mine[lane + half].y));
    }
    __syncwarp();
  }
  if (lane == 0) {
    sums[row] = mine[0].x;
    maxima[row] = mine[0].y;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  fold<<<(rows + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(x, sums, maxima, rows, columns);
}
