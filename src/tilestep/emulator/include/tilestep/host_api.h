// CUDA's host API, as far as a seam may use it.
#pragma once

#include "host_types.h"

#include "host_device.h"
#include "host_errors.h"
#include "host_forbidden.h"
#include "host_functions.h"
#include "host_memory.h"
