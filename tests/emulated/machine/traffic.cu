// Loads and stores whose bytes are known. The seam's T chooses the case; qkv has 10 columns: A 0..2, B 3..6, rest 7..9.

__device__ float table[32];

__global__ void columns(const float* in, float* out, int rows) {
  for (int row = threadIdx.x; row < rows; row += blockDim.x) {
    float sum = 0.0f;
    for (int c = 0; c < 3; ++c) sum += in[row * 10 + c];  // A, three a row
    sum += in[row * 10 + 6];                              // B, one
    sum += in[row * 10 + 9] + table[row % 32];            // neither, one; and a variable, which is no buffer
    out[row] = sum;
  }
}
__global__ void copies(const float* in, float* out) {
  float local[7];
  memcpy(local, in + 3, 7);  // seven bytes of B
  out[0] = local[0];
  atomicAdd(&out[1], 1.0f);  // reads and writes
}

void runCausalAttention(const float* qkv, float* attnOut, int T) {
  if (T == 1) columns<<<1, 32>>>(qkv, attnOut, 64);
  if (T == 2) copies<<<1, 1>>>(qkv, attnOut);
  if (T == 3) cudaMemcpy(attnOut, qkv, 100, cudaMemcpyDeviceToDevice);  // two rows and a half
}
