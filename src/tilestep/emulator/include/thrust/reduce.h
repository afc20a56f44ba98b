#pragma once
#error "tilestep: Thrust is not run on the CPU target; write the reduction yourself"
