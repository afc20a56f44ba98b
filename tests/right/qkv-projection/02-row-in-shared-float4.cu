// Right: a block stages its token's row once; float4 loads of the weights, four sums a thread.
__global__ void __launch_bounds__(192) project(const float* x, const float* wQkv, float* qkv) {
  __shared__ float4 row[D / 4];
  const int token = blockIdx.x;
  if (threadIdx.x < D / 4) row[threadIdx.x] = reinterpret_cast<const float4*>(x + token * D)[threadIdx.x];
  __syncthreads();  // the row is complete before anyone multiplies with it
  for (int column = threadIdx.x; column < QKV_OUT; column += blockDim.x) {
    const float4* weights = reinterpret_cast<const float4*>(wQkv + column * D);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < D / 4; ++i) {
      sum.x += row[i].x * weights[i].x;
      sum.y += row[i].y * weights[i].y;
      sum.z += row[i].z * weights[i].z;
      sum.w += row[i].w * weights[i].w;
    }
    qkv[token * QKV_OUT + column] = (sum.x + sum.y) + (sum.z + sum.w);
  }
}

void runQkvProjection(const float* x, const float* wQkv, float* qkv, int T) {
  project<<<T, 192>>>(x, wQkv, qkv);
}
