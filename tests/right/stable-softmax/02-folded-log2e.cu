// Right: in units of log2(e) throughout, with exp2f; a grid-stride loop over the rows.

constexpr float LOG2E = 1.44269504f;

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float m = -INFINITY;  // in units of log2(e), like every value below
    for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c] * LOG2E);
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) sum += exp2f(fmaf(in[c], LOG2E, -m));
    for (int c = 0; c < columns; ++c) out[c] = exp2f(fmaf(in[c], LOG2E, -m)) / sum;
  }
}

void runStableSoftmax(const float* x, float* y, int rows, int columns) { softmax<<<3, 48>>>(x, y, rows, columns); }
