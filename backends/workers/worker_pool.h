// A pool of worker processes that take requests from one queue. RunnerPool and BuilderPool are built on it. `Process`
// is a class that starts one worker process and talks to it, such as RunnerProcess (backends/runner/process.h). It has
// the types Request and Result and the functions Start, Run, Stop, pid and Stopped (the result of a request that is
// given up). Each worker has its own thread, since a worker process dies with the thread that started it.
//
// All methods may be called from any thread.
#pragma once

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace kiln {

template <typename Process>
class WorkerPool {
 public:
  using Request = typename Process::Request;
  using Result = typename Process::Result;

  // The destructor gives up all requests, as Interrupt does, and returns when no worker process is left.
  ~WorkerPool() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
      InterruptLocked();
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker->thread.join();
  }

  // Starts `count` workers and returns when each of them has started or failed, with the first error if there is one.
  // `make(i, stop_fd)` creates the i-th worker. `remark` receives the last nonempty remark of a worker.
  absl::Status Start(int count, absl::FunctionRef<std::unique_ptr<Process>(int, int)> make,
                     std::string* remark) {
    for (int i = 0; i < count; ++i) {
      Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
      worker.process = make(i, worker.stop_fd);
      worker.thread = std::thread([this, &worker] { Serve(worker); });
    }
    absl::Status status = absl::OkStatus();
    for (auto& worker : workers_) {
      status.Update(worker->started.get_future().get());
      if (!worker->remark.empty()) *remark = worker->remark;
    }
    return status;
  }

  // Adds a request to the queue. Requests start in the order of submission.
  std::future<Result> Submit(Request request) {
    Job job{std::move(request), {}};
    std::future<Result> result = job.result.get_future();
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return result;
  }

  // Gives up all submitted requests that have no result yet: those in the queue at once, running ones soon. Later
  // requests run as usual.
  void Interrupt() {
    std::lock_guard lock(mutex_);
    InterruptLocked();
  }

  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    for (const auto& worker : workers_) pids.push_back(worker->process->pid());
    return pids;
  }

 private:
  struct Job {
    Request request;
    std::promise<Result> result;
  };

  struct Worker {
    ~Worker() { close(stop_fd); }

    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::unique_ptr<Process> process;
    std::promise<absl::Status> started;
    std::string remark;
    bool busy = false;  // protected by the pool's mutex, like all uses of stop_fd
    std::thread thread;
  };

  void InterruptLocked() {
    for (Job& job : jobs_) job.result.set_value(Process::Stopped());
    jobs_.clear();
    for (auto& worker : workers_) {
      if (worker->busy) eventfd_write(worker->stop_fd, 1);
    }
  }

  void Serve(Worker& worker) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    worker.started.set_value(worker.process->Start(&worker.remark));
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) break;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      worker.busy = true;
      lock.unlock();
      Result result = worker.process->Run(job.request);
      lock.lock();
      worker.busy = false;
      eventfd_t stops = 0;
      eventfd_read(worker.stop_fd, &stops);
      job.result.set_value(std::move(result));
    }
    lock.unlock();
    worker.process->Stop();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace kiln
