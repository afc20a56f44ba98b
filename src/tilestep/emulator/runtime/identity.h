// Who the running thread is, as the submission sees it. abi.h declares these variables constant, under their own
// names, so that the kernel's reads of them are neither repeated nor hooked; here they are what the machine writes.
#pragma once

#include "tilestep/abi.h"

namespace tilestep {

#define TILESTEP_STRING(x) #x
#define TILESTEP_SYMBOL_OF(prefix, name) TILESTEP_STRING(prefix) name
#define TILESTEP_SYMBOL_WITH(prefix, name) TILESTEP_SYMBOL_OF(prefix, name)
#define TILESTEP_SYMBOL(name) TILESTEP_SYMBOL_WITH(__USER_LABEL_PREFIX__, name)

extern __thread uint3 current_thread_idx __asm__(TILESTEP_SYMBOL("tilestep_thread_idx"));
extern __thread uint3 current_block_idx __asm__(TILESTEP_SYMBOL("tilestep_block_idx"));
extern __thread uint3 current_block_dim __asm__(TILESTEP_SYMBOL("tilestep_block_dim"));
extern __thread uint3 current_grid_dim __asm__(TILESTEP_SYMBOL("tilestep_grid_dim"));

}  // namespace tilestep
