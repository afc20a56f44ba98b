#pragma once
#error "tilestep: cuda_fp6.h (6-bit floats) is not run by the emulator, which also records a GPU's launches"
