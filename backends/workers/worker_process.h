// Starts a worker process and talks to it: a program of Kiln (kiln-runner, kiln-builder) that answers frames with
// frames (frames.h). The program is started as `PATH SOCKET PARENT CORES` (worker_main.h). It first sends two frames,
// which are usually empty: what prevents it from working, and a remark. It ends when the socket is closed. One thread
// uses this object and must live as long as the process, because the process dies with the thread that started it.
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
  // Stores how to start a worker, which Start does. `cores`: the cores that the worker may use; if empty, any.
  // `stop_fd`: once it is readable, Start and Ask stop waiting. `keep_stderr`: keeps the worker's standard error for
  // LastWords; otherwise it goes to that of the calling process.
  WorkerProcess(std::string path, std::vector<int> cores, int stop_fd, bool keep_stderr = false);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts the worker and waits until it says that it works. kFailedPrecondition if the program cannot be started, says
  // that it cannot work, or does not answer within 20 s or before `stop_fd` is readable. `remark` receives the worker's
  // remark, usually empty.
  absl::Status Start(std::string* remark);

  struct Answer {
    FrameStatus status = FrameStatus::kClosed;
    std::string bytes;    // if kOk
    int wait_status = 0;  // if kClosed: how it ended, in the encoding of waitpid
    bool ended = false;   // if kClosed: whether it ended by itself; otherwise it was ended
  };
  // Sends a request to the process, which must be running, and waits at most `seconds` for the answer. If the status of
  // the answer is not kOk, the process has been ended.
  Answer Ask(const std::string& request, double seconds);

  // Closes the socket, so that the worker ends, and waits for its end. If it still runs after a second, kills it and
  // its process group.
  void Stop();

  // Returns the worker's process id; 0 if it does not run. Any thread may call it.
  pid_t pid() const { return pid_; }

  // Returns the first 2000 bytes that the worker wrote to standard error during the last request; "" without
  // `keep_stderr`.
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

// Returns how a process ended, such as "was ended by SIGSEGV" or "ended with status 3".
std::string HowItEnded(int wait_status);

// Returns the path of Kiln's program NAME: beside the running executable, in the folder above it, or where Kiln is
// installed. kFailedPrecondition if it is in none of these.
absl::StatusOr<std::string> FindProgram(const std::string& name);

}  // namespace kiln
