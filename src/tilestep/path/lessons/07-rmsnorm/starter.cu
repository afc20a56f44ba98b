// Stage 7, RMSNorm: y = x / sqrt(mean(x * x) + eps) * weight, row by row of x [T, D].
//
// Here each thread adds the squares of its own columns, and divides by the root of what it has.

constexpr int THREADS = 256;

__global__ void normRows(const float* x,       // [T, D]
                         const float* weight,  // [D]
                         float* y) {           // [T, D]
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float* out = y + static_cast<size_t>(blockIdx.x) * D;

  float squares = 0.0f;
  for (int c = tid; c < D; c += THREADS) squares += row[c] * row[c];

  // TODO: fold the threads' sums into one for the row, and give it back to every thread.
  // The tree of stage 1 does the first half. Who may read its result, and from when on?

  const float scale = rsqrtf(squares / D + RMS_EPS);
  for (int c = tid; c < D; c += THREADS) out[c] = row[c] * scale * weight[c];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  normRows<<<T, THREADS>>>(x, weight, y);
}
