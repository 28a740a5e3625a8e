// Ctrl-C, SIGTERM and SIGHUP, for all commands. Whatever a command waits for, its process ends soon after the
// first signal, with kExitInterrupted and a line that says what was interrupted and how to go on; its
// workers, which it is the parent of, end with it.
//
// Work that has something to finish says so:
//
//   const Stoppable stoppable([&] { measurer.Interrupt(); });
//   while (!*stoppable.flag()) ...
//
// It is asked, and has a second. All else ends at once: the database and what is written are in order
// whenever the process ends (search/database/store.h, backends/export/export.h). A second signal kills. A
// signal that is ignored when Kiln starts (nohup) stays ignored.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "absl/status/status.h"

namespace kiln::tools {

// From construction to destruction signals are caught; then all is done, and they are ignored. `last_words`
// are said, with what they are about, before the process ends without its main thread, on a thread of their
// own; where they cannot be said, it ends all the same.
class Interrupt {
 public:
  explicit Interrupt(std::function<void(const absl::Status& interrupted)> last_words);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  std::thread waiter_;
};

// While one lives, the work stops when `ask` was called, on a thread of its own, or soon after the flag is
// set. One at a time.
class Stoppable {
 public:
  explicit Stoppable(std::function<void()> ask = [] {});
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

  const std::atomic<bool>* flag() const;
};

// kCancelled: "interrupted during training; go on with\n  kiln tune ...".
absl::Status Interrupted();
// What became of work: Interrupted() if it failed after a signal, whatever it says, for that may be why.
absl::Status OrInterrupted(const absl::Status& status);

}  // namespace kiln::tools
