// What nvcc includes before every .cu file: CUDA's names, on the emulator.
#pragma once

#undef NDEBUG  // nvcc leaves assert alive; some compilers define this when they optimise

#include "tilestep/seen_copies.h"

// The C and C++ headers come next: they must not see CUDA's macros.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilestep/abi.h"

#include "tilestep/atomics.h"
#include "tilestep/bits.h"
#include "tilestep/block.h"
#include "tilestep/cached.h"
#include "tilestep/entry.h"
#include "tilestep/fast_math.h"
#include "tilestep/math.h"
#include "tilestep/qualifiers.h"
#include "tilestep/rounding.h"
#include "tilestep/shared.h"
#include "tilestep/variables.h"
#include "tilestep/vectors.h"
#include "tilestep/warp.h"
#include "tilestep/warp_match.h"

#include "tilestep/host_api.h"
#include "tilestep/launch.h"

#include "assert.h"
#include "tilestep/c_library.h"
