#pragma once
#error "tilestep: cuda_awbarrier.h (asynchronous barriers) is not run by the emulator, which also records a GPU's launches; use __syncthreads()"
