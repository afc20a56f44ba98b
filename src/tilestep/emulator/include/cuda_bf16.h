// bfloat16 and its pair.
#pragma once
#include "cuda_runtime.h"
#include "tilestep/bfloat16.h"
