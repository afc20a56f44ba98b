#pragma once
#error "tilestep: cuBLAS is not run on the CPU target; write the kernel yourself"
