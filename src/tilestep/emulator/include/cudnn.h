#pragma once
#error "tilestep: cuDNN is not run on the CPU target; write the kernel yourself"
