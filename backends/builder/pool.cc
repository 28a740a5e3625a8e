#include "backends/builder/pool.h"

#include <signal.h>
#include <sys/wait.h>

#include <deque>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/builder/exit_status.h"
#include "backends/workers/worker_pool.h"
#include "backends/workers/worker_process.h"
#include "spdlog/spdlog.h"

namespace kiln {
namespace {

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

BuildResult Failed(std::string error) {
  return {.status = BuildStatus::kBuildFailed, .error = std::move(error)};
}

class BuilderProcess {
 public:
  using Request = BuildRequest;
  using Result = BuildResult;

  BuilderProcess(std::string path, std::vector<int> cores, int stop_fd)
      : worker_(std::move(path), std::move(cores), stop_fd, /*keep_stderr=*/true) {}

  absl::Status Start(std::string* remark) { return worker_.Start(remark); }
  void Stop() { worker_.Stop(); }
  pid_t pid() const { return worker_.pid(); }
  static BuildResult Stopped() { return {.status = BuildStatus::kInterrupted, .error = "stopped"}; }

  BuildResult Run(const BuildRequest& request) {
    const std::string bytes = Encode(request);
    for (const bool is_last : {false, true}) {
      std::string remark;
      if (worker_.pid() == 0) {
        if (const absl::Status status = worker_.Start(&remark); !status.ok())
          return {.status = BuildStatus::kInterrupted, .error = std::string(status.message())};
      }
      const WorkerProcess::Answer answer = worker_.Ask(bytes, request.limits.seconds);
      if (!WasKilled(answer) || is_last) return ResultOf(answer, request);
    }
    return Stopped();
  }

 private:
  static bool WasKilled(const WorkerProcess::Answer& answer) {
    return answer.status == FrameStatus::kClosed && answer.ended && WIFSIGNALED(answer.wait_status) &&
           WTERMSIG(answer.wait_status) == SIGKILL;
  }

  BuildResult ResultOf(const WorkerProcess::Answer& answer, const BuildRequest& request) {
    BuildResult result;
    switch (answer.status) {
      case FrameStatus::kOk:
        if (Decode(answer.bytes, &result)) {
          if (!result.remark.empty()) spdlog::warn("{}", result.remark);
          return result;
        }
        worker_.Stop();
        return Failed("the compiler gave a malformed answer");
      case FrameStatus::kTimedOut:
        return Failed(absl::StrFormat("the compiler was not done after %g s", request.limits.seconds));
      case FrameStatus::kInterrupted:
        return Stopped();
      case FrameStatus::kClosed:
        break;
    }
    if (WasKilled(answer)) return Failed("the compiler was killed twice from outside");
    if (answer.ended && WIFEXITED(answer.wait_status) && WEXITSTATUS(answer.wait_status) == kOutOfMemoryExit)
      return Failed(absl::StrCat("the compiler needed more than ", request.limits.bytes, " bytes of memory"));
    const std::string said = FirstLine(worker_.LastWords());
    return Failed(
        absl::StrCat("the compiler crashed",
                     answer.ended ? absl::StrCat(": kiln-builder ", HowItEnded(answer.wait_status)) : "",
                     said.empty() ? "" : absl::StrCat(" (", said, ")")));
  }

  WorkerProcess worker_;
};

}  // namespace

class BuilderPool::Impl : public WorkerPool<BuilderProcess> {
 public:
  explicit Impl(const BuilderPoolOptions& options)
      : capacity_(static_cast<size_t>(options.cached_results)), object_folder_(options.object_folder) {}

  std::shared_future<BuildResult> SubmitCached(BuildRequest request) {
    if (request.object_folder.empty()) request.object_folder = object_folder_;
    const std::string key = request.cache_key;
    if (key.empty()) return Submit(std::move(request)).share();
    std::lock_guard lock(cache_mutex_);
    const auto found = cache_.find(key);
    if (found != cache_.end() && !WasInterrupted(found->second)) return found->second;
    if (found == cache_.end()) order_.push_back(key);
    while (order_.size() > capacity_) {
      cache_.erase(order_.front());
      order_.pop_front();
    }
    return cache_[key] = Submit(std::move(request)).share();
  }

 private:
  static bool WasInterrupted(const std::shared_future<BuildResult>& result) {
    return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready &&
           result.get().status == BuildStatus::kInterrupted;
  }

  const size_t capacity_;
  const std::string object_folder_;
  std::mutex cache_mutex_;
  absl::flat_hash_map<std::string, std::shared_future<BuildResult>> cache_;
  std::deque<std::string> order_;
};

BuilderPool::BuilderPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BuilderPool::~BuilderPool() = default;

absl::StatusOr<std::unique_ptr<BuilderPool>> BuilderPool::Start(const BuilderPoolOptions& options) {
  const auto path =
      options.builder_path.empty() ? FindBuilder() : absl::StatusOr<std::string>(options.builder_path);
  if (!path.ok()) return path.status();
  auto impl = std::make_unique<Impl>(options);
  const auto make = [&](int i, int stop_fd) {
    return std::make_unique<BuilderProcess>(*path, options.cores[static_cast<size_t>(i)], stop_fd);
  };
  std::string remark;
  if (absl::Status status = impl->Start(static_cast<int>(options.cores.size()), make, &remark); !status.ok())
    return status;
  return std::unique_ptr<BuilderPool>(new BuilderPool(std::move(impl)));
}

std::shared_future<BuildResult> BuilderPool::Submit(BuildRequest request) {
  return impl_->SubmitCached(std::move(request));
}

std::vector<BuildResult> BuilderPool::RunAll(std::vector<BuildRequest> requests) {
  std::vector<std::shared_future<BuildResult>> futures;
  for (BuildRequest& request : requests) futures.push_back(Submit(std::move(request)));
  std::vector<BuildResult> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

void BuilderPool::Interrupt() { impl_->Interrupt(); }

std::vector<pid_t> BuilderPool::builder_pids() const { return impl_->pids(); }

absl::StatusOr<std::string> FindBuilder() { return FindProgram("kiln-builder"); }

}  // namespace kiln
