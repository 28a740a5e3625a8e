// Lets any thread stop an operation of a session.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace kiln::api {

class Stop {
 public:
  // Marks an operation as running while the object lives. Ask then sets the flag and calls the `ask` of the innermost
  // object, if any. The outermost object clears the flag at its beginning. Without an object, Ask does nothing.
  class Work {
   public:
    explicit Work(Stop& stop, std::function<void()> ask = nullptr) : stop_(stop) {
      const std::lock_guard lock(stop_.mutex_);
      if (stop_.depth_++ == 0) stop_.flag_ = false;
      outer_ = std::exchange(stop_.ask_, std::move(ask));
    }
    ~Work() {
      const std::lock_guard lock(stop_.mutex_);
      --stop_.depth_;
      stop_.ask_ = std::move(outer_);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    Stop& stop_;
    std::function<void()> outer_;
  };

  void Ask() {
    const std::lock_guard lock(mutex_);
    if (depth_ == 0) return;
    flag_ = true;
    if (ask_) ask_();
  }
  const std::atomic<bool>* flag() const { return &flag_; }
  bool asked() const { return flag_; }

 private:
  std::mutex mutex_;
  std::function<void()> ask_;
  int depth_ = 0;
  std::atomic<bool> flag_ = false;
};

}  // namespace kiln::api
