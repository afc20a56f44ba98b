// half and half2.
#pragma once
#include "cuda_runtime.h"
#include "tilestep/half.h"
