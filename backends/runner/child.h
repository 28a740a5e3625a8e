// Runs one request in the calling process, which was forked for it and ends with it.
#pragma once

#include "backends/runner/runner.h"
#include "backends/workers/guard.h"

namespace kiln {

// Limits and restricts the process, loads the kernels, makes their parameters, runs, checks, times, writes
// the result as a frame to `result_fd`, and exits. What happens is noted in `note`, for the case that no
// result comes.
[[noreturn]] void RunAndExit(const RunRequest& request, int result_fd, RunNote* note);

}  // namespace kiln
