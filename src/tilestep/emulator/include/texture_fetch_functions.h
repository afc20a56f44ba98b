#pragma once
#error "tilestep: texture_fetch_functions.h (textures) is not run by the emulator, which also records a GPU's launches; read the buffer through its pointer"
