// The load of this machine: how many threads of other programs want its cores.
#pragma once

namespace kiln {

// Threads of others that run or wait for a core at this moment, where the caller's is the only one of ours;
// 0 if the system does not say.
int OthersReadyToRun();

// Cores of the machine, those that this process may not use included: what others' threads run on.
int CoresOfTheMachine();

}  // namespace kiln
