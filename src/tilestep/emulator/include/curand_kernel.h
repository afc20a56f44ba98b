#pragma once
#error "tilestep: cuRAND is not run on the CPU target"
