// Stage 4, stable softmax: row r of y holds the probabilities of row r of x, both [rows, columns].
//
// Here a thread owns a row and writes the definition down. exp overflows a float past 88, and vanishes far below 0.

constexpr int THREADS = 128;

__global__ void softmaxRows(const float* x,  // [rows, columns]
                            float* y,        // [rows, columns]
                            int rows, int columns) {
  const int row = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;

  const float* in = x + static_cast<size_t>(row) * columns;  // [columns]
  float* out = y + static_cast<size_t>(row) * columns;       // [columns]

  // TODO: a softmax does not change when all values of the row are shifted by the same amount. Choose the amount so
  // that the largest exponent is 0, and use it in both loops.

  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(in[c]);

  for (int c = 0; c < columns; ++c) out[c] = expf(in[c]) / sum;
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxRows<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x, y, rows, columns);
}
