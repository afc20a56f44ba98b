#include "kernel.h"

PARAMETERS(_Z4fillPfi4Pair, 8, 4, 16)

KERNEL _Z4fillPfi4Pair(void**, FakeLaunch*) {}
