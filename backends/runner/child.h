// Runs one request of a runner in the calling process, which was forked for this request and ends afterwards.
#pragma once

#include "backends/runner/runner.h"
#include "backends/workers/guard.h"

namespace kiln {

// Sets limits and restrictions, loads the kernels, creates their parameters, runs, checks and times them,
// writes the result as a frame to `result_fd`, and exits. `note` records the progress, in case the process
// dies without a result.
[[noreturn]] void RunAndExit(const RunRequest& request, int result_fd, RunNote* note);

}  // namespace kiln
