// Right: a block stages its token's Q and K in shared memory, and writes the turned values from there.
constexpr int PAIRS = DH / 2;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  __shared__ float row[D + KV];
  float* out = qkv + blockIdx.x * QKV_OUT;
  for (int i = threadIdx.x; i < D + KV; i += blockDim.x) row[i] = out[i];
  __syncthreads();  // the row is complete before anyone looks for a partner in it
  for (int i = threadIdx.x; i < D + KV; i += blockDim.x) {
    const int dim = i % DH;
    const float c = cosTable[blockIdx.x * PAIRS + dim % PAIRS];
    const float s = sinTable[blockIdx.x * PAIRS + dim % PAIRS];
    out[i] = dim < PAIRS ? fmaf(-row[i + PAIRS], s, row[i] * c) : fmaf(row[i - PAIRS], s, row[i] * c);
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T, 96>>>(qkv, cosTable, sinTable);
}
