#pragma once
#error "tilestep: cuda_fp4.h (4-bit floats) is not run on the CPU target"
