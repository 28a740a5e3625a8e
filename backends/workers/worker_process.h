// One worker process, seen from ours: a program of Kiln's (kiln-runner, kiln-builder) that answers frames
// with frames (frames.h). It is started as `PATH SOCKET PARENT CORES` (worker_main.h), says first what
// prevents it from working and then a remark, each a frame and usually empty, and ends when the socket is
// closed. Used by one thread, which must live as long as the process: the process dies with the thread that
// started it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/workers/frames.h"

namespace kiln {

class WorkerProcess {
 public:
  // `cores`: those it may use; none: any. `stop_fd`: once it is readable, Ask stops waiting. `keep_stderr`:
  // what it writes there is kept for LastWords instead of going where ours goes.
  WorkerProcess(std::string path, std::vector<int> cores, int stop_fd, bool keep_stderr = false);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // kFailedPrecondition when the program cannot be started or cannot work.
  // `remark`: what it has to say, or nothing.
  absl::Status Start(std::string* remark);

  struct Answer {
    FrameStatus status = FrameStatus::kClosed;
    std::string bytes;    // when kOk
    int wait_status = 0;  // when kClosed: how it ended, as waitpid says
    bool ended = false;   // when kClosed: by itself; else it had to be
  };
  // Sends a request and waits for the answer.
  // Unless that is kOk, the process is gone afterwards. It must run.
  Answer Ask(const std::string& request, double seconds);

  // Ends the process and its children, and waits until it is gone.
  void Stop();

  // 0 when it does not run. May be called from any thread.
  pid_t pid() const { return pid_; }

  // The beginning of what the process wrote to stderr during the last request.
  std::string LastWords() const;

 private:
  absl::Status Spawn();

  const std::string path_;
  const std::vector<int> cores_;
  const int stop_fd_;
  int stderr_ = -1;  // a memory file
  std::atomic<pid_t> pid_{0};
  int socket_ = -1;
};

// "was ended by SIGSEGV", "ended with status 3".
std::string HowItEnded(int wait_status);

// The program NAME of Kiln: beside the running executable, in the folder above it, or where Kiln is installed.
// kFailedPrecondition: it is in none of these.
absl::StatusOr<std::string> FindProgram(const std::string& name);

}  // namespace kiln
