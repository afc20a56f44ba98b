#pragma once
#error "tilestep: Thrust is not run by the emulator, which also records a GPU's launches; use the pointers of the seam"
