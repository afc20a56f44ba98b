// OS threads that stay, because a fiber may not move from one OS thread to another.
#pragma once

namespace tilestep {

// Runs `work(argument)` on the calling OS thread and on up to `helpers` others, and returns when all have finished.
void run_on_team(int helpers, void (*work)(void*), void* argument);

}  // namespace tilestep
