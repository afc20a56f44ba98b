// Sum of each row, rung 1: one thread walks the row.
//
// The idea: write the definition down. A block owns a row; thread 0 adds its values one after another, while the
// other threads look on. It is right for every number of columns, and a good thing to compare with.
//
// The contract: x [rows, columns] holds the values, row after row; sums [rows] receives one sum a row. rows >= 1
// and columns >= 1, and neither is a multiple of anything.
//
// The cost: columns - 1 additions, each waiting for the one before it: columns - 1 steps, where a tree needs about
// log2(columns).

constexpr int THREADS = 256;

__global__ void sumSerial(const float* x,  // [rows, columns]
                          float* sums,     // [rows]
                          int columns) {
  if (threadIdx.x != 0) return;  // no barrier follows

  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float total = 0.0f;
  for (int c = 0; c < columns; ++c) total += row[c];
  sums[blockIdx.x] = total;
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  sumSerial<<<rows, THREADS>>>(x, sums, columns);
}
