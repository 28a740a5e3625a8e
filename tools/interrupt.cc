#include "tools/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "lang/check.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

constexpr int kPatienceMilliseconds = 1500;  // for a clean stop

std::atomic<bool> stopped;
int wake[2] = {-1, -1};

void Write(char what) {
  const ssize_t written = write(wake[1], &what, 1);
  (void)written;
}

void OnSignal(int) {
  if (stopped.exchange(true)) _exit(kExitInterrupted);  // another signal than the first
  Write('s');
}

void Catch(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_first, std::function<void()> last_words) {
  KILN_CHECK(wake[0] < 0 && pipe2(wake, O_CLOEXEC) == 0);
  stopped = false;
  waiter_ = std::thread([on_first = std::move(on_first), last_words = std::move(last_words)] {
    char what = 0;
    if (read(wake[0], &what, 1) != 1 || what != 's') return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMilliseconds);
    std::thread asks(on_first);  // which may wait for a lock of the work that does not stop
    pollfd ended{wake[0], POLLIN, 0};
    for (int events = -1; events < 0;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      events = poll(&ended, 1, std::max(0, static_cast<int>(left.count())));
      if (events == 0) {
        last_words();
        _exit(kExitInterrupted);
      }
    }
    asks.join();
  });
  Catch(OnSignal, static_cast<int>(SA_RESETHAND));
}

Interrupt::~Interrupt() {
  Catch(SIG_DFL, 0);
  Write('q');
  waiter_.join();
  for (int& end : wake) {
    close(end);
    end = -1;
  }
}

const std::atomic<bool>* Interrupt::flag() const { return &stopped; }

}  // namespace kiln::tools
