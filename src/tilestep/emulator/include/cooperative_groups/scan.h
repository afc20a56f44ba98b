#pragma once
#error "tilestep: cooperative_groups/scan.h is not run on the CPU target; write the scan with shfl_up()"
