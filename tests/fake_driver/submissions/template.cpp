#include "kernel.h"

KERNEL _Z5timesILi3EEvPKfPf(void** given, FakeLaunch* launch) {
  for (unsigned i = 0; i < launch->grid[0] * D; ++i)
    argument<float*>(given, 1)[i] = 3 * argument<const float*>(given, 0)[i];
}
