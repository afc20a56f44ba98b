#pragma once
#error "tilestep: cuDNN is not run by the emulator, which also records a GPU's launches; write the kernel yourself"
