// Right: float4 where the row is aligned, single values before and after; partial sums are doubles.
constexpr int THREADS = 128;
__global__ void fold(const float* x, float* sums, int columns) {
  __shared__ double tree[THREADS];
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  int head = static_cast<int>((16 - reinterpret_cast<size_t>(row) % 16) % 16 / sizeof(float));
  if (head > columns) head = columns;
  const int quads = (columns - head) / 4;
  double sum = 0.0;
  for (int c = tid; c < head; c += THREADS) sum += row[c];
  const float4* body = reinterpret_cast<const float4*>(row + head);
  for (int q = tid; q < quads; q += THREADS) {
    const float4 v = body[q];
    sum += static_cast<double>(v.x) + v.y + v.z + v.w;
  }
  for (int c = head + 4 * quads + tid; c < columns; c += THREADS) sum += row[c];
  tree[tid] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] += tree[tid + half];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = static_cast<float>(tree[0]);
}
void runBlockSum(const float* x, float* sums, int rows, int columns) { fold<<<rows, THREADS>>>(x, sums, columns); }
