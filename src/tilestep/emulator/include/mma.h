#pragma once
#error "tilestep: mma.h (tensor cores through nvcuda::wmma) is not run by the emulator, which also records a GPU's launches; compute in plain fp32"
