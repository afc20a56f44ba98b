// Right: a warp owns a head, two neighbouring dims a lane; the partners stand 16 lanes away.
__global__ void rotate(float* qkv, const float* cosTable, const float* sinTable, int heads) {
  const int index = blockIdx.x * 4 + threadIdx.x / 32;
  if (index >= heads) return;  // whole warps leave
  const int token = index / (HQ + HKV);
  const int lane = threadIdx.x % 32;
  float2* place = reinterpret_cast<float2*>(qkv + token * QKV_OUT + index % (HQ + HKV) * DH) + lane;
  const float2 own = *place;
  const float2 c = reinterpret_cast<const float2*>(cosTable + token * 32)[lane % 16];
  const float2 s = reinterpret_cast<const float2*>(sinTable + token * 32)[lane % 16];
  const float partnerX = __shfl_xor_sync(0xffffffffu, own.x, 16);
  const float partnerY = __shfl_xor_sync(0xffffffffu, own.y, 16);
  const float sign = lane < 16 ? -1.0f : 1.0f;
  *place = make_float2(own.x * c.x + sign * partnerX * s.x, own.y * c.y + sign * partnerY * s.y);
}

void runRope(float* qkv, const float* cosTable, const float* sinTable, int T) {
  const int heads = T * (HQ + HKV);
  rotate<<<(heads + 3) / 4, 128>>>(qkv, cosTable, sinTable, heads);
}
