// What the parts of the library that run kernels need to know of memory.
#pragma once
#include <vector>

#include "driver.h"
#include "../kernel.h"

std::vector<FakeMemory> everyBlock();
double bytesSet();  // by the host's memsets, ever

// modules.cpp: the module that a variable belongs to.
const void* moduleOf(const void* address);

// execution.cpp: sleeps for ever where a kernel is endless; else the error that one left, or SUCCESS.
int waitForKernels();
