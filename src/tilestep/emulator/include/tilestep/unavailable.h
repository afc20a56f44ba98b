// Functions of CUDA that the emulator does not run: naming one is an error at the line that names it.
#pragma once

#if defined(__clang__) || __GNUC__ >= 12
#define TILESTEP_UNAVAILABLE(sentence) __attribute__((unavailable("tilestep: " sentence)))
#else
#define TILESTEP_UNAVAILABLE(sentence) __attribute__((error("tilestep: " sentence)))
#endif
