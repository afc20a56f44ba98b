#pragma once
#error "tilestep: cuda_awbarrier.h (asynchronous barriers) is not run on the CPU target; use __syncthreads()"
