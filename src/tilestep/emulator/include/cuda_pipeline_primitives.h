#pragma once
#error "tilestep: cuda_pipeline_primitives.h (asynchronous copies) is not run on the CPU target; copy through registers and __syncthreads()"
