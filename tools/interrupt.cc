#include "tools/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "api/machine.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience(1000);  // time for a clean stop
constexpr milliseconds kSaying(200);     // time for the last words

std::atomic<bool> stopped;
std::atomic<const char*> phase{""};  // the phase at the time of the signal
int wake[2] = {-1, -1};

std::mutex asking;
std::function<void()> ask;  // asks the stoppable work to stop

void Write(char what) {
  const ssize_t written = write(wake[1], &what, 1);
  (void)written;
}

void OnSignal(int) {
  if (stopped.exchange(true)) _exit(kExitInterrupted);  // a second signal
  phase = api::CurrentPhase();
  Write('s');
}

void Catch(void (*handler)(int), int flags) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
  }
}

// Returns true while an interrupted command has to finish something: stoppable work, or its last steps after it printed
// its JSON document. Otherwise reserves the document for the error of the interrupt.
bool HasToFinish() {
  const std::lock_guard lock(asking);
  return ask != nullptr || !ReserveJson();
}

void Ask() {
  const std::lock_guard lock(asking);
  if (ask) ask();
}

bool EndsWithin(milliseconds limit) {
  pollfd ended{wake[0], POLLIN, 0};
  const auto until = std::chrono::steady_clock::now() + limit;
  for (int events = -1;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    events = poll(&ended, 1, std::max(0, static_cast<int>(left.count())));
    if (events >= 0) return events > 0;
  }
}

}  // namespace

Interrupt::Interrupt(std::function<void(const absl::Status&)> last_words) {
  // Aborts if another object lives, or if no file descriptor is left.
  if (wake[0] >= 0 || pipe2(wake, O_CLOEXEC) != 0) std::abort();
  stopped = false;
  waiter_ = std::thread([last_words = std::move(last_words)] {
    char what = 0;
    while (read(wake[0], &what, 1) < 0 && errno == EINTR) continue;
    if (what != 's') return;
    const bool may_finish = HasToFinish();
    std::thread asks(Ask);  // a separate thread: Ask may wait for a lock that the work holds
    if (may_finish && EndsWithin(kPatience)) return asks.join();
    const auto said = std::async(std::launch::async, last_words, Interrupted());
    said.wait_for(kSaying);
    _exit(kExitInterrupted);
  });
  Catch(OnSignal, static_cast<int>(SA_RESETHAND));
}

Interrupt::~Interrupt() {
  Catch(SIG_IGN, 0);
  Write('q');
  waiter_.join();
  for (int& end : wake) {
    close(end);
    end = -1;
  }
}

Stoppable::Stoppable(std::function<void()> own) {
  const std::lock_guard lock(asking);
  ask = std::move(own);
}

Stoppable::~Stoppable() {
  const std::lock_guard lock(asking);
  ask = nullptr;
}

const std::atomic<bool>* Stoppable::flag() const { return &stopped; }

absl::Status Interrupted() {
  const absl::string_view during = phase.load();
  return absl::CancelledError(absl::StrCat("interrupted",
                                           during.empty() ? "" : absl::StrCat(" during ", during),
                                           "; go on with\n  ", TypedCommand()));
}

absl::Status OrInterrupted(const absl::Status& status) {
  return status.ok() || IsAlreadyPrinted(status) || !stopped ? status : Interrupted();
}

}  // namespace kiln::tools
