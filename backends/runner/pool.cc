#include "backends/runner/pool.h"

#include <utility>

#include "backends/runner/process.h"
#include "backends/workers/worker_pool.h"
#include "spdlog/spdlog.h"

namespace kiln {

class RunnerPool::Impl : public WorkerPool<RunnerProcess> {};

RunnerPool::RunnerPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunnerPool::~RunnerPool() = default;

absl::StatusOr<std::unique_ptr<RunnerPool>> RunnerPool::Start(const RunnerPoolOptions& options) {
  const auto path =
      options.runner_path.empty() ? FindRunner() : absl::StatusOr<std::string>(options.runner_path);
  if (!path.ok()) return path.status();
  auto impl = std::make_unique<Impl>();
  const auto make = [&](int i, int stop_fd) {
    return std::make_unique<RunnerProcess>(*path, options.cores[static_cast<size_t>(i)], stop_fd,
                                           options.grace_seconds);
  };
  std::string remark;
  if (absl::Status status = impl->Start(static_cast<int>(options.cores.size()), make, &remark); !status.ok())
    return status;
  if (!remark.empty()) spdlog::warn("candidates run without a sandbox on this machine: {}", remark);
  return std::unique_ptr<RunnerPool>(new RunnerPool(std::move(impl)));
}

std::future<RunResult> RunnerPool::Submit(RunRequest request) { return impl_->Submit(std::move(request)); }

std::vector<RunResult> RunnerPool::RunAll(std::vector<RunRequest> requests) {
  std::vector<std::future<RunResult>> futures;
  for (RunRequest& request : requests) futures.push_back(Submit(std::move(request)));
  std::vector<RunResult> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

void RunnerPool::Interrupt() { impl_->Interrupt(); }

std::vector<pid_t> RunnerPool::runner_pids() const { return impl_->pids(); }

absl::StatusOr<std::string> FindRunner() { return FindProgram("kiln-runner"); }

}  // namespace kiln
