// Runs a loop on a few threads. Results must not depend on which thread ran what: give each index a place of
// its own.
//
// The calling thread takes part (as number 0); one thread means a plain loop. One loop at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // at least 1
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(i, thread) once for each i in 0 ..
  // n-1, and returns when all have returned; thread is below threads().
  void For(int n, const std::function<void(int, int)>& body);

 private:
  void Work(int thread);

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int, int)>* body_ = nullptr;
  int size_ = 0, busy_ = 0;
  long loop_ = 0;
  bool stopping_ = false;
  std::atomic<int> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace kiln
