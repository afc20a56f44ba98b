// Stage 5, block softmax: row r of y holds the probabilities of row r of x, both [rows, columns].
//
// Here a block owns a row and its threads share the columns, but nothing else: each has a maximum and a sum of its
// own.

constexpr int THREADS = 256;

__global__ void softmaxRows(const float* x,  // [rows, columns]
                            float* y,        // [rows, columns]
                            int columns) {
  const int tid = threadIdx.x;
  const float* in = x + static_cast<size_t>(blockIdx.x) * columns;  // [columns]
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;       // [columns]

  float m = -INFINITY;  // a thread without a column brings the neutral element
  for (int c = tid; c < columns; c += THREADS) m = fmaxf(m, in[c]);

  // TODO: m is this thread's maximum. All threads need the row's: fold the 256 of them in a shared array.

  float sum = 0.0f;
  for (int c = tid; c < columns; c += THREADS) sum += expf(in[c] - m);

  // TODO: the same for the sum. If it uses the same array, who may still be reading the maximum from it?

  for (int c = tid; c < columns; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

void runBlockSoftmax(const float* x, float* y, int rows, int columns) {
  softmaxRows<<<rows, THREADS>>>(x, y, columns);
}
