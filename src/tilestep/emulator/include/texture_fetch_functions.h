#pragma once
#error "tilestep: texture_fetch_functions.h (textures) is not run on the CPU target; read the buffer through its pointer"
