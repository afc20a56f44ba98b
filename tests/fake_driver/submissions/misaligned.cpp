#include "kernel.h"

KERNEL _Z6astrayPf(void**, FakeLaunch* launch) { launch->error = MISALIGNED_ADDRESS; }
