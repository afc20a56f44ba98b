#pragma once
#error "tilestep: cuda_fp6.h (6-bit floats) is not run on the CPU target"
