// What makes times on this machine differ from run to run: facts of the system, and two loops that should
// always take the same time.
#pragma once

#include <string>
#include <vector>

namespace kiln {

struct MachineState {
  double load = 0;    // processes that run or wait, on average of the last minute
  int cores = 1;      // physical ones that this process may use
  double stolen = 0;  // share of the processors' time that went to other guests while looking
  std::vector<std::string> governors;  // of frequencies, each once; empty if the system has none
  std::string huge_pages;              // "always", "madvise", "never"; empty if unknown
  bool threads_share_cores = false;    // simultaneous multithreading, as this system sees it
  bool guest = false;                  // of a hypervisor, which may hide what it shares
  // 90th over 10th percentile of 200 runs on the core of timed runs: of a loop in registers, and of one that
  // reads as much as half the second cache.
  double register_spread = 1, cache_spread = 1;
};

// About half a second. Moves the calling thread to the core of timed runs for that time.
MachineState ObserveMachine();

struct Finding {
  std::string what, found;
  bool disturbs = false;
  std::string advice;  // empty if it does not disturb
};

// One for each thing looked at, in the order of MachineState. Pure.
std::vector<Finding> NoiseSources(const MachineState& state);

}  // namespace kiln
