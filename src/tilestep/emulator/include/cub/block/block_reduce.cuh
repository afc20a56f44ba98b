#pragma once
#error "tilestep: CUB is not run by the emulator, which also records a GPU's launches; write the reduction yourself"
