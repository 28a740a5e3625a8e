#include "tools/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "lang/check.h"

namespace kiln::tools {
namespace {

std::atomic<bool> stopped;
int wake[2] = {-1, -1};

void Write(char what) {
  const ssize_t written = write(wake[1], &what, 1);
  (void)written;
}

void OnSignal(int) {
  stopped = true;
  Write('s');
}

void Catch(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_first) {
  KILN_CHECK(wake[0] < 0 && pipe2(wake, O_CLOEXEC) == 0);
  stopped = false;
  waiter_ = std::thread([on_first = std::move(on_first)] {
    char what = 0;
    if (read(wake[0], &what, 1) == 1 && what == 's') on_first();
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
