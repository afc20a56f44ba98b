// Right: one launch for Q, one for K, a fixed grid each; a thread keeps its angle for all heads of a token.
constexpr int PAIRS = DH / 2;

template <int HEADS>
__global__ void rotate(float* slab, const float* cosTable, const float* sinTable, int pairs) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < pairs; index += gridDim.x * blockDim.x) {
    const float c = cosTable[index];
    const float s = sinTable[index];
    float* pair = slab + index / PAIRS * QKV_OUT + index % PAIRS;
    for (int head = 0; head < HEADS; ++head, pair += DH) {
      const float low = pair[0];
      const float high = pair[PAIRS];
      pair[PAIRS] = high * c + low * s;
      pair[0] = low * c - high * s;
    }
  }
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<HQ><<<3, 64>>>(qkv, cosTable, sinTable, T * PAIRS);
  rotate<HKV><<<3, 64>>>(qkv + D, cosTable, sinTable, T * PAIRS);
}
