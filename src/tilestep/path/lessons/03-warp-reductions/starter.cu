// Stage 3, warp reductions: sums[r] and maxima[r] of row r of x [rows, columns], a warp a row.
//
// Here each lane folds its own columns. What the other 31 lanes found never reaches lane 0.

constexpr int LANES = 32;
constexpr int WARPS = 4;  // rows of a block
constexpr unsigned ALL_LANES = 0xffffffffu;

__global__ void reduceRows(const float* x,  // [rows, columns]
                           float* sums,     // [rows]
                           float* maxima,   // [rows]
                           int rows, int columns) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
  if (row >= rows) return;  // the whole warp leaves

  const float* values = x + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int c = lane; c < columns; c += LANES) {
    sum += values[c];
    largest = fmaxf(largest, values[c]);
  }

  // TODO: fold sum and largest over the 32 lanes with shuffles, distances 16, 8, 4, 2, 1 and the mask ALL_LANES.

  if (lane == 0) {
    sums[row] = sum;
    maxima[row] = largest;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  reduceRows<<<(rows + WARPS - 1) / WARPS, WARPS * LANES>>>(x, sums, maxima, rows, columns);
}
