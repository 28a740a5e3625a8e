#include "search/thread_pool.h"

namespace kiln {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this, i] { Work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::For(int n, const std::function<void(int, int)>& body) {
  if (threads_.empty() || n <= 1) {
    for (int i = 0; i < n; ++i) body(i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    size_ = n;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    ++loop_;
  }
  begin_.notify_all();
  for (int i = next_++; i < n; i = next_++) body(i, 0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::Work(int thread) {
  for (long done = 0;;) {
    std::unique_lock lock(mutex_);
    begin_.wait(lock, [&] { return stopping_ || loop_ != done; });
    if (stopping_) return;
    done = loop_;
    lock.unlock();
    for (int i = next_++; i < size_; i = next_++) (*body_)(i, thread);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

}  // namespace kiln
