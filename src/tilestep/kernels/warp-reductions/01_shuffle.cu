// Sum and maximum of each row: a warp a row, folded by shuffles.
//
// The idea: the lanes of a warp read each other's registers. A fold over 32 lanes takes five exchanges, with no
// shared memory and no barrier. With __shfl_xor_sync each lane trades with the lane whose number differs in one
// bit, so that after five trades all 32 lanes hold the result; __shfl_down_sync leaves it in lane 0 only.
//
// The contract: x [rows, columns] holds finite values, row after row; sums [rows] and maxima [rows] receive one
// value a row each. rows >= 1 and columns >= 1, and neither is a multiple of anything.
//
// The cost: columns / 32 loads a lane, then five exchanges for each result; a block holds WARPS rows.

constexpr int LANES = 32;
constexpr int WARPS = 4;  // rows of a block
constexpr unsigned ALL_LANES = 0xffffffffu;

__global__ void reduceByWarps(const float* x,  // [rows, columns]
                              float* sums,     // [rows]
                              float* maxima,   // [rows]
                              int rows, int columns) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
  if (row >= rows) return;  // the whole warp leaves: its lanes all have the same row, so no shuffle misses one

  const float* values = x + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  float largest = -INFINITY;
  for (int c = lane; c < columns; c += LANES) {
    sum += values[c];
    largest = fmaxf(largest, values[c]);
  }

  // All 32 lanes are here, also those that had no column: they bring 0 and -infinity, the neutral elements.
  for (int distance = LANES / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, distance));
  }

  if (lane == 0) {
    sums[row] = sum;
    maxima[row] = largest;
  }
}

void runWarpReductions(const float* x, float* sums, float* maxima, int rows, int columns) {
  reduceByWarps<<<(rows + WARPS - 1) / WARPS, WARPS * LANES>>>(x, sums, maxima, rows, columns);
}
