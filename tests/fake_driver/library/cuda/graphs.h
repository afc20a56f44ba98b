// Work that is captured into a graph instead of being done.
#pragma once
#include <functional>

#include "driver.h"

constexpr int CAPTURE_UNSUPPORTED = 900;  // for a call that would wait for the work

bool capturing();
int keep(std::function<int()> work);
