#include "backends/runner/threads.h"

#include <sched.h>

#include <atomic>
#include <vector>

#include "backends/runner/kiln_pool.h"
#include "backends/runner/timing.h"
#include "backends/workers/guard.h"

namespace kiln {
namespace {

constexpr double kMaxSeconds = 1;

struct Meeting {
  const int count;
  const double deadline;
  std::vector<int> cores;
  std::atomic<int> arrived{0};
};

// The body of a parallel loop with an iteration for each thread of the pool: pins the thread to a core, gives it a
// signal stack, and waits until all iterations have begun or the time is over. So each iteration runs on a thread of
// its own.
void Meet(int64_t begin, int64_t end, void** args) {
  auto& meeting = *static_cast<Meeting*>(args[0]);
  for (int64_t i = begin; i < end; ++i) {
    if (MonotonicSeconds() > meeting.deadline) return;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(meeting.cores[static_cast<size_t>(i) % meeting.cores.size()], &core);
    sched_setaffinity(0, sizeof core, &core);
    UseSignalStack();
    ++meeting.arrived;
    while (meeting.arrived < meeting.count && MonotonicSeconds() <= meeting.deadline) sched_yield();
  }
}

}  // namespace

int StartThreads(int count) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof usable, &usable);
  Meeting meeting{count, MonotonicSeconds() + kMaxSeconds, {}};
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) meeting.cores.push_back(core);
  }
  void* args[] = {&meeting};
  kiln_parallel_for(count, count, 1, Meet, args);
  return meeting.arrived;
}

}  // namespace kiln
