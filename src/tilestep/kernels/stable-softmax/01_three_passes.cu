// Stable softmax of each row: one thread a row, three passes over it.
//
// The idea: a softmax does not change when every value of a row is shifted by the same amount, so take the row's
// maximum off first. The largest exponent is then 0: nothing overflows, and the sum is at least 1.
//
//   pass 1   m    = max x
//   pass 2   sum  = sum of exp(x - m)
//   pass 3   y    = exp(x - m) / sum
//
// The contract: x [rows, columns] holds the values, row after row; y [rows, columns] receives the probabilities.
// rows >= 1 and columns >= 1. A value of -inf gets probability 0; every row holds a finite value.
//
// The cost: each value is read three times and exp is computed twice for it, by a thread that has the whole row to
// itself. Neighbouring threads read addresses that lie a whole row apart.

constexpr int THREADS = 128;

__global__ void softmaxThreePasses(const float* x,  // [rows, columns]
                                   float* y,        // [rows, columns]
                                   int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;  // no barrier follows

  const float* in = x + static_cast<size_t>(row) * columns;  // [columns]
  float* out = y + static_cast<size_t>(row) * columns;       // [columns]

  float m = -INFINITY;  // the neutral element of max: 0 would be too large for a row of negative values
  for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c]);

  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(in[c] - m);

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / sum;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxThreePasses<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
