// The cores that this process may use, and how a measurer shares them out.
// Numbers are those of sched_setaffinity.
#pragma once

#include <vector>

namespace kiln {

// Each physical core's hardware threads, lowest first. Only those that this process may use; at least one.
std::vector<std::vector<int>> UsableCores();

struct CoreShares {
  std::vector<int> timed;                // one hardware thread of each core that timed runs own
  std::vector<std::vector<int>> builds;  // a set of one core for each builder
  bool apart = false;                    // builds share no core with timed runs, so they may go on meanwhile
};

// `threads` cores for timed runs (0: all, never more than there are), the last ones, as systems are busiest
// on the first; the others for builders. Where none is left, there are as many builders as cores, which must
// wait for timed runs.
CoreShares ShareCores(const std::vector<std::vector<int>>& cores, int threads);

}  // namespace kiln
