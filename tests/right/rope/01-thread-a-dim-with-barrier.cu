// Right: a thread owns one dim; a barrier stands between the last read and the first write.
constexpr int PAIRS = DH / 2;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  const int token = blockIdx.x;
  const int dim = threadIdx.x % DH;
  const int d = dim % PAIRS;
  float* head = qkv + token * QKV_OUT + threadIdx.x / DH * DH;
  const float own = head[dim];
  const float partner = head[(dim + PAIRS) % DH];
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];
  __syncthreads();  // every old value is in a register before any is overwritten
  head[dim] = dim < PAIRS ? own * c - partner * s : own * c + partner * s;
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<T, D + KV>>>(qkv, cosTable, sinTable);
}
