// Ctrl-C (and SIGTERM): the first asks for a clean stop, the second ends the process at once.
//
// Some work cannot be asked: a long call of a library, or of a plugin. If the object lives on for 1.5 seconds
// after the first signal, the process ends with kExitInterrupted, and its workers, which it is the parent of,
// end with it. The database is in order whenever the process ends (search/database/store.h).
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace kiln::tools {

// From construction to destruction signals are caught: the first one sets the flag and calls `on_first` on a
// thread of its own; the same thread calls `last_words` before it ends the process. One object at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> on_first, std::function<void()> last_words = [] {});
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* flag() const;

 private:
  std::thread waiter_;
};

}  // namespace kiln::tools
