// Wrong: threads past the last pair go on, beyond the tensor and the tables.
constexpr int PAIRS = DH / 2;
constexpr int PER_TOKEN = (HQ + HKV) * PAIRS;

__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int token = index / PER_TOKEN;
  const int d = index % PAIRS;
  float* pair = qkv + token * QKV_OUT + index % PER_TOKEN / PAIRS * DH + d;
  const float c = cosTable[token * PAIRS + d];
  const float s = sinTable[token * PAIRS + d];
  const float low = pair[0];
  const float high = pair[PAIRS];
  pair[0] = low * c - high * s;
  pair[PAIRS] = high * c + low * s;
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  rotate<<<(T * PER_TOKEN + 255) / 256, 256>>>(qkv, cosTable, sinTable);
}
