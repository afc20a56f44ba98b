#pragma once
#error "tilestep: cuRAND is not run by the emulator, which also records a GPU's launches"
