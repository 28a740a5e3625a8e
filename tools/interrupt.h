// Handles Ctrl-C, SIGTERM and SIGHUP for all commands. After the first signal, the process ends within two
// seconds, whatever it waits for. It returns kExitInterrupted and prints what was interrupted and how to go
// on. Its worker processes end with it.
//
// Work that has something to finish says so:
//
//   const Stoppable stoppable([&] { measurer.Interrupt(); });
//   while (!*stoppable.flag()) ...
//
// Such work is asked to stop, and has one second. Other work ends at once: the database and exported files
// are consistent at every moment (search/database/store.h, backends/export/export.h). A second signal kills
// the process. A signal that is ignored when Kiln starts (nohup) stays ignored.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "absl/status/status.h"

namespace kiln::tools {

// Catches signals from construction to destruction. After destruction they are ignored, for the command is
// done. `last_words` runs on a thread of its own before the process ends without its main thread. The process
// ends even where it fails or hangs.
class Interrupt {
 public:
  explicit Interrupt(std::function<void(const absl::Status& interrupted)> last_words);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  std::thread waiter_;
};

// While an object of this class lives, the first signal sets the flag and calls `ask` on a thread of its own,
// and the work stops soon after. At most one object lives at a time.
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
