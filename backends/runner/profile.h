// Runs a kernel that writes the time after each of its calls (ProfiledRuns in runner.h).
#pragma once

#include <vector>

#include "backends/runner/timing.h"
#include "backends/workers/frames.h"

namespace kiln {

struct CallProfile {
  int status = 0;                                 // the first nonzero one, which ends it
  std::vector<std::vector<double>> call_seconds;  // by run, then by call
};

// `kernel` is the profiled function with the kernel's arguments. It also gets an array for calls + 1 times. No run
// begins after `give_up`, but one always does.
CallProfile RunProfiled(BoundKernel kernel, int calls, int runs, Deadline give_up);

}  // namespace kiln
