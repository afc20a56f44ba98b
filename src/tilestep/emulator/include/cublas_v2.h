#pragma once
#error "tilestep: cuBLAS is not run by the emulator, which also records a GPU's launches; write the kernel yourself"
