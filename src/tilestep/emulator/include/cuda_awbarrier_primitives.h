#pragma once
#error "tilestep: cuda_awbarrier_primitives.h (asynchronous barriers) is not run on the CPU target; use __syncthreads()"
