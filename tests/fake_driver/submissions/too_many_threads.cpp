#include "kernel.h"

THREADS(_Z4copyPKfPf, 256)

KERNEL _Z4copyPKfPf(void**, FakeLaunch*) {}
