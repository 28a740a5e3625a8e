// Runs kernels outside of this process, in a few kiln-runner processes that are started once. Each forks a
// child for every request (zygote.h). A kernel that crashes, hangs, writes where it should not, or grows too
// large ends its own child, and its result says so. The next request finds everything as it was.
//
// A runner serves one request at a time and keeps to the cores it was given. Timed runs share no core with
// other requests if the sets of cores are disjoint; keep builds off these cores too. A runner that dies is
// started again for the next request. The request during which it died is interrupted, and the caller may try
// it again.
//
// The destructor stops what runs, and returns when no process is left. If this process is killed, its runners
// and their children die with it.
//
// All methods may be called from any thread. To measure in another way, derive another Measurer, not another
// pool.
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
  std::string runner_path = {};  // of kiln-runner; see FindRunner
  // One runner for each set of cores; an empty set: any core. One core suits kernels with one thread.
  std::vector<std::vector<int>> cores = {{}};
  // A runner that has not answered so long after the request's limit is taken for dead.
  double grace_seconds = 5;
};

class RunnerPool {
 public:
  // Returns when all runners answer. kFailedPrecondition: one cannot be started, or there is no such core.
  // Logs once when system calls of candidates cannot be restricted on this machine.
  static absl::StatusOr<std::unique_ptr<RunnerPool>> Start(const RunnerPoolOptions& options);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;

  // Requests are begun in the order of submission. The future never throws, and is ready at the latest after
  // the limit of the request, the grace, and those of the requests before it.
  std::future<RunResult> Submit(RunRequest request);

  // Results in the order of requests.
  std::vector<RunResult> RunAll(std::vector<RunRequest> requests);

  // Whatever was submitted and has no result yet becomes interrupted, soon. Later requests run as usual.
  void Interrupt();

  // Of each runner; 0 for one that is not running now.
  std::vector<pid_t> runner_pids() const;

 private:
  class Impl;
  explicit RunnerPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// kiln-runner: beside the running executable, in the folder above it, or where Kiln is installed.
// kFailedPrecondition: it is in none of these.
absl::StatusOr<std::string> FindRunner();

}  // namespace kiln
