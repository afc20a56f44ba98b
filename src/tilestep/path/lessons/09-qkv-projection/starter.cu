// Stage 9, packed QKV projection: qkv = x wQkv^T, for x [T, D] and wQkv [QKV_OUT, D].
//
// Here a thread owns one output. There are threads for Q's columns only: K and V are never written.

constexpr int THREADS = 128;

__global__ void project(const float* x,     // [T, D]
                        const float* wQkv,  // [QKV_OUT, D]
                        float* qkv) {       // [T, QKV_OUT]
  const int token = blockIdx.y;
  const int column = blockIdx.x * THREADS + threadIdx.x;

  float sum = 0.0f;
  for (int i = 0; i < D; ++i) sum += x[token * D + i] * wQkv[column * D + i];
  qkv[token * QKV_OUT + column] = sum;
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  // TODO: the packed tensor has QKV_OUT columns, and all of them are one launch's work.
  project<<<dim3(D / THREADS, T), THREADS>>>(x, wQkv, qkv);
}
