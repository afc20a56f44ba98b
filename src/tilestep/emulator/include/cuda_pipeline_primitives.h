#pragma once
#error "tilestep: cuda_pipeline_primitives.h (asynchronous copies) is not run by the emulator, which also records a GPU's launches; copy through registers and __syncthreads()"
