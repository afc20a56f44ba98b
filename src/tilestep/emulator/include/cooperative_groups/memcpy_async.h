#pragma once
#error "tilestep: cooperative_groups/memcpy_async.h (asynchronous copies) is not run on the CPU target; copy through registers and sync()"
