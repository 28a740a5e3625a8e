// Handles Ctrl-C, SIGTERM and SIGHUP for all commands. After the first signal, the process ends within two
// seconds, even if it is blocked. It returns kExitInterrupted and prints what was interrupted and how to
// continue. Its worker processes end with it.
//
// Work that needs time to finish declares it:
//
//   const Stoppable stoppable([&] { measurer.Interrupt(); });
//   while (!*stoppable.flag()) ...
//
// Such work is asked to stop and has one second. A command that has printed its JSON document has one second, too.
// Other work ends at once: the database and exported files are always consistent (search/database/store.h,
// backends/export/export.h). A second signal kills the process. A signal that is ignored when Kiln starts (nohup)
// stays ignored.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "absl/status/status.h"

namespace kiln::tools {

// Catches signals from construction to destruction. After that they are ignored, because the command is
// done. If the process ends without its main thread, `last_words` runs first on a separate thread. The
// process ends even if `last_words` fails or hangs.
class Interrupt {
 public:
  explicit Interrupt(std::function<void(const absl::Status& interrupted)> last_words);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  std::thread waiter_;
};

// Declares work that an interrupt must not end at once. While an object lives, the first signal sets the flag and calls
// `ask` on a separate thread. The work must then stop soon. At most one object lives at a time.
class Stoppable {
 public:
  explicit Stoppable(std::function<void()> ask = [] {});
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

  const std::atomic<bool>* flag() const;
};

// Returns the error of an interrupted command: kCancelled with a message such as "interrupted during training; go on
// with\n  kiln tune ...".
absl::Status Interrupted();
// Returns the status of work or, in place of a failure after a signal, Interrupted(), because the signal may be the
// cause. An error that was printed already stays.
absl::Status OrInterrupted(const absl::Status& status);

}  // namespace kiln::tools
