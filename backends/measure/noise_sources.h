// Finds reasons why times on this machine vary from run to run: facts about the system, and the spread of two
// loops that should always take the same time.
#pragma once

#include <string>
#include <vector>

namespace kiln {

struct MachineState {
  double load = 0;    // processes that run or wait, averaged over the last minute
  int cores = 1;      // physical cores that this process may use
  double stolen = 0;  // share of all processors' time that other guests took while the loops ran
  std::vector<std::string> governors;  // frequency governors, each once; empty if the system has none
  std::string huge_pages;              // "always", "madvise", "never"; empty if unknown
  bool threads_share_cores = false;    // simultaneous multithreading, as far as this system shows it
  bool guest = false;                  // runs under a hypervisor, which may hide shared resources
  // The spread of two loops: the 90th over the 10th percentile of the times of 200 runs on the core of timed runs. One
  // loop works in registers, the other reads half of the L2 cache.
  double register_spread = 1, cache_spread = 1;
};

// Reads facts about the system's load, cores and settings. Then times the two loops, for about half a second, on the
// core that timed runs use: the calling thread moves there, and back afterwards.
MachineState ObserveMachine();

struct Finding {
  std::string what, found;
  bool disturbs = false;
  std::string advice;  // empty if it does not disturb
};

// Judges the facts of MachineState. Returns a finding for each except `guest`: whether the fact disturbs timing, and
// what to do then. Pure.
std::vector<Finding> NoiseSources(const MachineState& state);

}  // namespace kiln
