#include "kernel.h"

KERNEL _Z4finePf(void** given, FakeLaunch*) { argument<float*>(given, 0)[0] = 1.0f; }

KERNEL _Z6astrayPf(void**, FakeLaunch* launch) { launch->error = ILLEGAL_ADDRESS; }
