// Cooperative groups: the block, tiles of a warp, the lanes that have come together.
#pragma once
#include "cuda_runtime.h"
#include "tilestep/groups.h"
