// cooperative_groups::reduce and its operators.
#pragma once
#include "../cooperative_groups.h"
#include "../tilestep/group_reduce.h"
