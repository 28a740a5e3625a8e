// One kiln-runner process, seen from ours. Used by one thread, which must live as long as the process: the
// process dies with the thread that started it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/runner/runner.h"

namespace kiln {

class RunnerProcess {
 public:
  // `stop_fd`: once it is readable, Run stops waiting. `grace_seconds`: how long after its limit a request
  // may be answered.
  RunnerProcess(std::string path, std::vector<int> cores, int stop_fd, double grace_seconds);
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // kFailedPrecondition when the program cannot be started or cannot work. `remark`: what it has to say, or
  // nothing.
  absl::Status Start(std::string* remark);

  // Starts the process if it does not run. When it does not answer it is ended, and the result is
  // interrupted.
  RunResult Run(const RunRequest& request);

  // Ends the process and its child, and waits until it is gone.
  void Stop();

  // 0 when it does not run. May be called from any thread.
  pid_t pid() const { return pid_; }

 private:
  absl::Status Spawn();
  RunResult GiveUp(const std::string& why);

  const std::string path_;
  const std::vector<int> cores_;
  const int stop_fd_;
  const double grace_seconds_;
  std::atomic<pid_t> pid_{0};
  int socket_ = -1;
};

}  // namespace kiln
