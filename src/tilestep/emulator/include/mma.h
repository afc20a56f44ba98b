#pragma once
#error "tilestep: mma.h (tensor cores through nvcuda::wmma) is not run on the CPU target; compute in plain fp32"
