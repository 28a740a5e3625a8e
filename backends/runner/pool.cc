#include "backends/runner/pool.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/runner/process.h"
#include "spdlog/spdlog.h"

namespace kiln {
namespace {

struct Job {
  RunRequest request;
  std::promise<RunResult> result;
};

struct Worker {
  Worker(const RunnerPoolOptions& options, const std::vector<int>& cores)
      : stop_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        process(options.runner_path, cores, stop_fd, options.grace_seconds) {}
  ~Worker() { close(stop_fd); }

  const int stop_fd;
  RunnerProcess process;
  std::promise<absl::Status> started;
  std::string remark;
  bool busy = false;  // under the pool's mutex, as all uses of stop_fd
  std::thread thread;
};

}  // namespace

class RunnerPool::Impl {
 public:
  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
      InterruptLocked();
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker->thread.join();
  }

  absl::Status Start(const RunnerPoolOptions& options) {
    for (const std::vector<int>& cores : options.cores) {
      Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(options, cores));
      worker.thread = std::thread([this, &worker] { Serve(worker); });
    }
    absl::Status status = absl::OkStatus();
    std::string remark;
    for (auto& worker : workers_) {
      status.Update(worker->started.get_future().get());
      if (!worker->remark.empty()) remark = worker->remark;
    }
    if (!remark.empty()) spdlog::warn("candidates run without a sandbox on this machine: {}", remark);
    return status;
  }

  std::future<RunResult> Submit(RunRequest request) {
    Job job{std::move(request), {}};
    std::future<RunResult> result = job.result.get_future();
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return result;
  }

  void Interrupt() {
    std::lock_guard lock(mutex_);
    InterruptLocked();
  }

  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    for (const auto& worker : workers_) pids.push_back(worker->process.pid());
    return pids;
  }

 private:
  void InterruptLocked() {
    for (Job& job : jobs_) job.result.set_value({.status = RunStatus::kInterrupted, .detail = "stopped"});
    jobs_.clear();
    for (auto& worker : workers_) {
      if (worker->busy) eventfd_write(worker->stop_fd, 1);
    }
  }

  void Serve(Worker& worker) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    worker.started.set_value(worker.process.Start(&worker.remark));
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) break;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      worker.busy = true;
      lock.unlock();
      RunResult result = worker.process.Run(job.request);
      lock.lock();
      worker.busy = false;
      eventfd_t stops = 0;
      eventfd_read(worker.stop_fd, &stops);
      job.result.set_value(std::move(result));
    }
    lock.unlock();
    worker.process.Stop();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
};

RunnerPool::RunnerPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunnerPool::~RunnerPool() = default;

absl::StatusOr<std::unique_ptr<RunnerPool>> RunnerPool::Start(const RunnerPoolOptions& options) {
  auto impl = std::make_unique<Impl>();
  if (absl::Status status = impl->Start(options); !status.ok()) return status;
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

absl::StatusOr<std::string> FindRunner() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {folder, folder.parent_path()}) {
    const auto runner = place / "kiln-runner";
    if (!error && access(runner.c_str(), X_OK) == 0) return runner.string();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("kiln-runner is neither in ", folder.string(), " nor in the folder above it"));
}

}  // namespace kiln
