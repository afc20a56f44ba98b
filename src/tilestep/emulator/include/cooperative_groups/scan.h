#pragma once
#error "tilestep: cooperative_groups/scan.h is not run by the emulator, which also records a GPU's launches; write the scan with shfl_up()"
