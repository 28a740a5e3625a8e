// Runs a loop on several threads with oneTBB. Results must not depend on which thread ran which index: give
// each index its own output.
//
//   ThreadPool pool(4);
//   pool.For(n, [&](int i, int thread) { results[i] = Work(inputs[i], memory[thread]); });
//
// The calling thread takes part. One thread means a plain loop. One loop at a time.
#pragma once

#include <functional>
#include <memory>

namespace kiln {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // at least 1
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(i, thread) once for each i in 0 .. n-1, and returns when all calls have returned. Concurrent
  // calls have different values of `thread`, all below threads().
  void For(int n, const std::function<void(int i, int thread)>& body);

 private:
  struct Arena;
  const int threads_;
  std::unique_ptr<Arena> arena_;  // null for one thread
};

}  // namespace kiln
