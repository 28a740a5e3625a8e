#include "backends/runner/process.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/runner/protocol.h"

namespace kiln {
namespace {

RunResult Interrupted(std::string why) {
  return {.status = RunStatus::kInterrupted, .detail = std::move(why)};
}

}  // namespace

RunnerProcess::RunnerProcess(std::string path, std::vector<int> cores, int stop_fd, double grace_seconds)
    : worker_(std::move(path), std::move(cores), stop_fd), grace_seconds_(grace_seconds) {}

RunResult RunnerProcess::Run(const RunRequest& request) {
  std::string remark;
  if (worker_.pid() == 0) {
    if (const absl::Status status = worker_.Start(&remark); !status.ok())
      return Interrupted(std::string(status.message()));
  }
  const WorkerProcess::Answer answer = worker_.Ask(Encode(request), request.limits.seconds + grace_seconds_);
  RunResult result;
  switch (answer.status) {
    case FrameStatus::kOk:
      if (Decode(answer.bytes, &result)) return result;
      worker_.Stop();
      return Interrupted("the runner process gave a malformed answer");
    case FrameStatus::kTimedOut:
      return Interrupted("the runner process does not answer");
    case FrameStatus::kInterrupted:
      return Stopped();
    case FrameStatus::kClosed:
      break;
  }
  if (!answer.ended) return Interrupted("the runner process does not read");
  return Interrupted(absl::StrCat("the runner process ", HowItEnded(answer.wait_status)));
}

}  // namespace kiln
