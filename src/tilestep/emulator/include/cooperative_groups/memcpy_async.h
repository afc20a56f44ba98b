#pragma once
#error "tilestep: cooperative_groups/memcpy_async.h (asynchronous copies) is not run by the emulator, which also records a GPU's launches; copy through registers and sync()"
