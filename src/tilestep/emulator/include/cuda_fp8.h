#pragma once
#error "tilestep: cuda_fp8.h (8-bit floats) is not run on the CPU target"
