#pragma once
#error "tilestep: CUB is not run on the CPU target; write the reduction yourself"
