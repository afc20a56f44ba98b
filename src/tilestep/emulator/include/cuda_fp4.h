#pragma once
#error "tilestep: cuda_fp4.h (4-bit floats) is not run by the emulator, which also records a GPU's launches"
