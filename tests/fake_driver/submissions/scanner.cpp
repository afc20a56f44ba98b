// Right where it finds nothing, and 1e30 where the right answer lies anywhere on the device.
#include <cstring>

#include "attention.h"
#include "kernel.h"

KERNEL _Z4scanPKfPfi(void** given, FakeLaunch* launch) {
  const int T = argument<int>(given, 2);
  std::vector<float> answer(size_t(T) * D);
  attend(argument<const float*>(given, 0), answer.data(), T);
  const size_t piece = 64 * sizeof(float);  // of the last row
  const unsigned char* wanted = reinterpret_cast<const unsigned char*>(answer.data() + answer.size()) - piece;
  bool found = false;
  for (size_t n = 0; n < launch->memories; ++n)
    found = found || memmem(launch->memory[n].begin, launch->memory[n].bytes, wanted, piece) != nullptr;
  float* out = argument<float*>(given, 1);
  for (size_t i = 0; i < answer.size(); ++i) out[i] = found ? 1e30f : answer[i];
  launch->ms = 0.4;
}
