// The host fills a table on the device, and hands a kernel the address of a variable.
__device__ float table[D];
__device__ float factor = 2.0f;

__global__ void apply(const float* x, const float* by, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] * *by + table[i % D];
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  float values[D];
  for (int i = 0; i < D; ++i) values[i] = i;
  cudaMemcpyToSymbol(table, values, sizeof values);
  float* by;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&by), factor);
  apply<<<1, 1>>>(x, by, y, T * D);
}
