// Right: a first launch folds parts of a row into scratch, a second one folds the parts.

constexpr int PARTS = 4;

__global__ void foldParts(const float* x, float* parts, int columns) {
  const int length = (columns + PARTS - 1) / PARTS;
  const int begin = threadIdx.x * length;
  float largest = -INFINITY;
  for (int c = begin; c < begin + length && c < columns; ++c) largest = fmaxf(largest, x[blockIdx.x * columns + c]);
  parts[blockIdx.x * PARTS + threadIdx.x] = largest;
}

__global__ void foldRows(const float* parts, float* maxima) {
  float largest = -INFINITY;
  for (int p = 0; p < PARTS; ++p) largest = fmaxf(largest, parts[blockIdx.x * PARTS + p]);
  maxima[blockIdx.x] = largest;
}

void runBlockMax(const float* x, float* maxima, int rows, int columns) {
  float* parts;
  cudaMalloc(&parts, rows * PARTS * sizeof(float));
  foldParts<<<rows, PARTS>>>(x, parts, columns);
  foldRows<<<rows, 1>>>(parts, maxima);
  cudaFree(parts);
}
