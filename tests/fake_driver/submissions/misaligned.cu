// Four values at an address that is no multiple of sixteen.
__global__ void astray(float* y) {
  *reinterpret_cast<float4*>(y + 1) = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  astray<<<1, 1>>>(y);
}
