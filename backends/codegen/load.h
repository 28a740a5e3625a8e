// Measures how much other programs use this machine.
#pragma once

namespace kiln {

// Returns how many threads of other programs run or wait for a core now. Assumes that the calling thread is the only
// thread of Kiln that runs. Returns 0 if the system does not tell.
int OthersReadyToRun();

// Returns the number of cores of the machine that are online, including those that this process may not use but other
// programs' threads may.
int CoresOfTheMachine();

}  // namespace kiln
