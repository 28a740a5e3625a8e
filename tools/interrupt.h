// Ctrl-C (and SIGTERM): the first asks for a clean stop, the second ends the process at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace kiln::tools {

// From construction to destruction signals are caught: the first one sets the flag and calls `on_first` on a
// thread of its own. One object at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> on_first);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* flag() const;

 private:
  std::thread waiter_;
};

}  // namespace kiln::tools
