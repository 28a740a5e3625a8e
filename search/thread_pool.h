// Runs a loop on a few threads, by oneTBB. Results must not depend on which thread ran what: give each index
// a place of its own.
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

  // Calls body(i, thread) once for each i in 0 .. n-1, and returns when all have returned. No two calls at the same
  // time have the same thread, which is below threads().
  void For(int n, const std::function<void(int i, int thread)>& body);

 private:
  struct Arena;
  const int threads_;
  std::unique_ptr<Arena> arena_;  // null for one thread
};

}  // namespace kiln
