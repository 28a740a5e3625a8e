// Finds the cores that this process may use, and divides them between timed runs and builders. Core numbers are those
// of sched_setaffinity.
#pragma once

#include <vector>

namespace kiln {

// Returns for each physical core the numbers of its hardware threads, lowest first. Contains only hardware threads that
// this process may use, and only cores that have one. If hwloc knows no cores, each hardware thread counts as a core.
std::vector<std::vector<int>> UsableCores();

struct CoreShares {
  std::vector<int> timed;                // one hardware thread of each core reserved for timed runs
  std::vector<std::vector<int>> builds;  // for each builder the hardware threads of its core
  bool apart = false;                    // builds share no core with timed runs and may go on during them
};

// Reserves `threads` cores for timed runs (0: all; never more than there are). These are the last cores, since systems
// are busiest on the first. Builders get one of the other cores each. If no core is left, there are as many builders as
// cores, and they must wait for timed runs.
CoreShares ShareCores(const std::vector<std::vector<int>>& cores, int threads);

}  // namespace kiln
