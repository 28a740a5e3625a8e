// One kiln-runner process, seen from its parent. One thread uses it, as worker_process.h requires.
#pragma once

#include <string>
#include <vector>

#include "backends/runner/runner.h"
#include "backends/workers/worker_process.h"

namespace kiln {

class RunnerProcess {
 public:
  using Request = RunRequest;
  using Result = RunResult;

  // Describes a process; Run starts it. `grace_seconds`: how long after its limit a request may still be
  // answered.
  RunnerProcess(std::string path, std::vector<int> cores, int stop_fd, double grace_seconds);

  absl::Status Start(std::string* remark) { return worker_.Start(remark); }

  // Sends a request; starts the process if it does not run. If the process does not answer, it is ended, and
  // the result is interrupted.
  RunResult Run(const RunRequest& request);

  void Stop() { worker_.Stop(); }
  pid_t pid() const { return worker_.pid(); }

  static RunResult Stopped() { return {.status = RunStatus::kInterrupted, .detail = "stopped"}; }

 private:
  WorkerProcess worker_;
  const double grace_seconds_;
};

}  // namespace kiln
