#include "kernel.h"

static void copyRow(void** given) {
  const int row = argument<int>(given, 2);
  for (unsigned i = 0; i < D; ++i) argument<float*>(given, 1)[row * D + i] = argument<const float*>(given, 0)[row * D + i];
}

SHARED(_Z9neverAsksPKfPfi, 40960)
SHARED(_Z10asksEnoughPKfPfi, 40960)
SHARED(_Z11asksTooMuchPKfPfi, 40960)
SHARED(_Z8asksLatePKfPfi, 40960)

KERNEL _Z9neverAsksPKfPfi(void** given, FakeLaunch*) { copyRow(given); }
KERNEL _Z10asksEnoughPKfPfi(void** given, FakeLaunch*) { copyRow(given); }
KERNEL _Z11asksTooMuchPKfPfi(void** given, FakeLaunch*) { copyRow(given); }
KERNEL _Z8asksLatePKfPfi(void** given, FakeLaunch*) { copyRow(given); }
