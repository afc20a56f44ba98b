#include "attention.h"
#include "kernel.h"

PARAMETERS(_Z17attendCooperativePKfPfi, 8, 8, 4)
THREADS(_Z17attendCooperativePKfPfi, 256)
SHARED(_Z17attendCooperativePKfPfi, 9472)

KERNEL _Z17attendCooperativePKfPfi(void** given, FakeLaunch* launch) {
  attend(argument<const float*>(given, 0), argument<float*>(given, 1), argument<int>(given, 2));
  static int calls = 0;
  launch->ms = 4.0 + 0.01 * (calls++ % 5);
}
