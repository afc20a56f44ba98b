// A part of CUDA's headers: everything stands in cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
