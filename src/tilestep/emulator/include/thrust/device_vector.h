#pragma once
#error "tilestep: Thrust is not run on the CPU target; use the pointers of the seam"
