// Every header that a submission may ask for, behind the shim, and the names that live in both worlds.
#include <algorithm>
#include <array>
#include <bitset>
#include <cassert>
#include <cfloat>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <stdexcept>
#include <assert.h>
#include <float.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups/reduce.h>
#include <math_constants.h>
#include <vector_types.h>
#include <device_launch_parameters.h>

using namespace std;

__global__ void mixed(float* o, int n) {
  o[0] = max(n, 3) + min(2.0f, o[1]) + fmax(o[1], o[2]) + max(1u, 2u) + min(size_t(3), size_t(n));
  o[1] = fabs(o[2]) + abs(n) + pow(o[1], 2) + exp(o[3]) + exp2(o[1]) + log2f(o[2]) + rsqrt(o[2]) + __expf(o[1]);
  o[2] = fma(o[1], o[2], o[3]) + round(o[1]) + rint(o[1]) + isnan(o[1]) + std::isinf(o[2]) + signbit(o[3]);
  o[3] = CUDART_INF_F + INFINITY + HUGE_VALF + FLT_MAX;
  std::memcpy(o, o + 4, 12);
  std::printf("x%d", n);
  assert((std::is_same<float, float>::value));
}

void runCausalAttention(const float*, float* attnOut, int T) {
  mixed<<<1, 1>>>(attnOut, std::max(T, min(T, 4)) + int(std::numeric_limits<float>::infinity() > 0));
}
