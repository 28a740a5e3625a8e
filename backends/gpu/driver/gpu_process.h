// A child process that uses the GPU. A fault on the GPU spoils the process that caused it, and a kernel that never ends
// stops only when its process ends. So the parent never opens the driver. It watches the child, and starts another one
// after a fault or a timeout.
//
//   GpuProcess gpu;
//   if (std::string problem = gpu.Start(); !problem.empty()) ...
//   RunResult result = gpu.Run(request, seconds);
//
// After each run, the parent asks what slows the clocks (gpu_watch.h). If it is heat, the hardware's protection or the
// power brake, the samples are not quiet. A power cap does not matter.
//
// Threads: the process may have only one, because Start forks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "backends/gpu/driver/gpu_watch.h"
#include "backends/runner/runner.h"

namespace kiln {

class GpuProcess {
 public:
  GpuProcess() = default;
  ~GpuProcess() { Stop(); }
  GpuProcess(const GpuProcess&) = delete;
  GpuProcess& operator=(const GpuProcess&) = delete;

  // Starts the child process, which opens the GPU, if none runs. Returns "", or a message if there is no usable GPU.
  std::string Start();
  // True if the last Start failed because this machine has no driver or no GPU.
  bool absent() const { return absent_; }
  // Returns a description of the GPU as a JSON object, once Start has succeeded.
  const std::string& machine() const { return machine_; }

  // Runs `request`, an encoded RunRequest, in the child. kTimedOut if it takes longer than `seconds`, and kCrashed if
  // the child ended or the GPU had a fault; the next call starts another child. kInterrupted if none can be started.
  RunResult Run(const std::string& request, double seconds);
  int starts() const { return starts_; }
  // Returns the clocks and the temperature of the GPU now (gpu_watch.h). They are unknown before the first successful
  // Start, which tells the GPU's uuid.
  GpuState StateNow();

 private:
  void Stop();

  pid_t child_ = 0;
  int socket_ = -1;
  int starts_ = 0;
  bool absent_ = false;
  std::string machine_;
  std::optional<GpuWatch> watch_;
};

}  // namespace kiln
