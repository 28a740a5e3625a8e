// Runs kernels outside of this process, in a few kiln-runner processes that are started once. Each forks a child for
// every request (zygote.h). A kernel that crashes, hangs, writes where it should not, or grows too large ends its own
// child, and the result of its request says so. The next request finds everything as it was.
//
// A runner serves one request at a time and stays on the cores it was given. Timed runs share no core with other
// requests if the sets of cores are disjoint; keep builds off these cores too. A runner that dies is started again for
// the next request. The request during which it died is interrupted, and the caller may try it again.
//
// The destructor stops running requests, and returns when no process is left. If this process is killed, its runners
// and their children die with it.
//
// All methods may be called from any thread. To measure in another way, derive another Measurer, not another pool.
#pragma once

#include <sys/types.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/runner/runner.h"

namespace kiln {

struct RunnerPoolOptions {
  std::string runner_path = {};  // path of kiln-runner; empty: FindRunner finds it
  // The cores that each runner may use: one runner is started for each set; an empty set means any core. One core suits
  // kernels with one thread.
  std::vector<std::vector<int>> cores = {{}};
  // Seconds after a request's limit; a runner that has not answered by then counts as dead.
  double grace_seconds = 5;
};

class RunnerPool {
 public:
  // Starts the runner processes and returns when all answer. Errors: those of FindRunner; kFailedPrecondition if a
  // runner cannot be started, or if a core does not exist. Logs a warning if this machine cannot restrict the system
  // calls of candidates.
  static absl::StatusOr<std::unique_ptr<RunnerPool>> Start(const RunnerPoolOptions& options);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;

  // Submits a request to the runners. Requests start in the order of submission. The future never throws. It is ready
  // at the latest after the limits and grace periods of this request and those before it.
  std::future<RunResult> Submit(RunRequest request);

  // Runs all requests and returns their results in the order of the requests.
  std::vector<RunResult> RunAll(std::vector<RunRequest> requests);

  // Ends all submitted requests that have no result yet, with the status kInterrupted. Returns at once; the results
  // follow soon. Later requests run as usual.
  void Interrupt();

  // Returns the process id of each runner; 0 for a runner that does not run now.
  std::vector<pid_t> runner_pids() const;

 private:
  class Impl;
  explicit RunnerPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the path of kiln-runner: beside the running executable, in the folder above it, or where Kiln is installed.
// kFailedPrecondition if it is in none of these.
absl::StatusOr<std::string> FindRunner();

}  // namespace kiln
