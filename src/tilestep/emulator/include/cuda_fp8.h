#pragma once
#error "tilestep: cuda_fp8.h (8-bit floats) is not run by the emulator, which also records a GPU's launches"
