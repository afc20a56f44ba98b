// Right: a fixed grid walks over all outputs; Kahan's sum keeps the lost bits.
__global__ void project(const float* x, const float* wQkv, float* qkv, int outputs) {
  for (int o = blockIdx.x * blockDim.x + threadIdx.x; o < outputs; o += gridDim.x * blockDim.x) {
    const int token = o / QKV_OUT;
    const int column = o % QKV_OUT;
    float sum = 0.0f, lost = 0.0f;
    for (int i = 0; i < D; ++i) {
      const float term = x[token * D + i] * wQkv[column * D + i] - lost;
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    qkv[o] = sum;
  }
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<11, 224>>>(x, wQkv, qkv, T * QKV_OUT);
}
