// Starts one kiln-runner process and sends requests to it. Only one thread may use the object (worker_process.h).
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

  // Stores how to start the process, which Start and Run do. `cores` are the cores that it may use. Once `stop_fd` is
  // readable, Run stops waiting. A process that has not answered `grace_seconds` after a request's limit is ended.
  RunnerProcess(std::string path, std::vector<int> cores, int stop_fd, double grace_seconds);

  absl::Status Start(std::string* remark) { return worker_.Start(remark); }

  // Sends a request to the process, which it starts if necessary, and waits for the result. Returns the status
  // kInterrupted if the process cannot be started, dies, sends a malformed answer or does not answer in time, or if
  // `stop_fd` becomes readable. A process that gives no valid answer in time is ended.
  RunResult Run(const RunRequest& request);

  void Stop() { worker_.Stop(); }
  pid_t pid() const { return worker_.pid(); }

  static RunResult Stopped() { return {.status = RunStatus::kInterrupted, .detail = "stopped"}; }

 private:
  WorkerProcess worker_;
  const double grace_seconds_;
};

}  // namespace kiln
