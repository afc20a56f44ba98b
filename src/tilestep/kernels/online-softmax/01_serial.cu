// Online softmax of each row, rung 1: one thread a row, maximum and denominator in one pass.
//
// The idea: do not wait for the maximum. Keep the largest value so far, m, and the sum of exp(x - m) so far, l.
// When a value raises the maximum, what l holds is relative to the old one; alpha = exp(m_old - m_new) brings it to
// the new one.
//
//   m_new = max(m, x)
//   l     = l * exp(m - m_new) + exp(x - m_new)
//
// The contract: x [rows, columns] holds the values, row after row; y [rows, columns] receives the probabilities.
// rows >= 1 and columns >= 1. A value of -inf gets probability 0; every row holds a finite value.
//
// The cost: each value is read twice, not three times: once for m and l, once to write.

constexpr int THREADS = 128;

__global__ void softmaxOnlineSerial(const float* x,  // [rows, columns]
                                    float* y,        // [rows, columns]
                                    int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;  // no barrier follows

  const float* in = x + static_cast<size_t>(row) * columns;  // [columns]
  float* out = y + static_cast<size_t>(row) * columns;       // [columns]

  float m = -INFINITY;
  float l = 0.0f;
  for (int c = 0; c < columns; ++c) {
    if (in[c] == -INFINITY) continue;  // adds nothing, and before the first finite value -inf - -inf is NaN
    const float newM = fmaxf(m, in[c]);
    l = l * expf(m - newM) + expf(in[c] - newM);
    m = newM;
  }

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c] - m) / l;
}

void runOnlineSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxOnlineSerial<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
