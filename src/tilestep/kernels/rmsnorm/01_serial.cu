// RMSNorm, rung 1: a block a row, and one thread adds the squares.
//
// The idea: y = x / sqrt(mean(x * x) + eps) * weight needs one number for the whole row. Thread 0 computes it and
// leaves it in shared memory; then every thread scales its columns. It is right, and while thread 0 adds, 255
// threads wait.
//
// The contract: x [T, D] holds the rows, weight [D] a factor for each column, y [T, D] receives the normed rows.
// The mean is that of D squares; RMS_EPS is added to it, inside the root, so that a row of zeros stays zeros.
// D and RMS_EPS come from the contract's header, which is included before this file. T >= 1.
//
// The cost: D additions one after another, where a tree needs log2(D) levels.

constexpr int THREADS = 256;

__global__ void normSerial(const float* x,       // [T, D]
                           const float* weight,  // [D]
                           float* y) {           // [T, D]
  __shared__ float scale_smem;

  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * D;
  float* out = y + static_cast<size_t>(blockIdx.x) * D;

  if (tid == 0) {
    float squares = 0.0f;
    for (int c = 0; c < D; ++c) squares = fmaf(row[c], row[c], squares);
    scale_smem = rsqrtf(squares / D + RMS_EPS);
  }
  __syncthreads();  // thread 0 has stored the scale before anybody reads it

  for (int c = tid; c < D; c += THREADS) out[c] = row[c] * scale_smem * weight[c];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  normSerial<<<T, THREADS>>>(x, weight, y);
}
