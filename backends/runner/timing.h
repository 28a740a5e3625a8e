// Takes the samples of one or several kernels by TimingPolicy (runner.h). Single-threaded; the caller has run
// each kernel once and says how long that took.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/runner/runner.h"
#include "backends/workers/frames.h"

namespace kiln {

// A kernel that can be called: `call(function, arguments)`.
struct BoundKernel {
  int (*call)(void* function, void* const* arguments) = nullptr;
  void* function = nullptr;
  std::vector<void*> arguments;

  int Run() const { return call(function, arguments.data()); }
};

// The caller of functions of `count` pointers, for count in 0..kMaxKernelParams.
decltype(BoundKernel::call) CallerFor(int count);

struct TimedKernel {
  BoundKernel kernel;
  std::vector<std::pair<const void*, int64_t>> memory;  // what a cold cache does not hold: address, bytes
  double warm_up_seconds = 0;
  std::vector<double> seconds;      // the samples that are told come here
  std::vector<double> raw_samples;  // all of them: RunResult::raw_samples
  int preempted = 0;                // of them, those during which another process had the core
};

// RunRequest::reference_kernel.
struct TimedReference {
  BoundKernel kernel;
  double seconds = 0;
};

struct TimingOutcome {
  int status = 0;             // the first one that was not 0; it ends the timing
  int failed = -1;            // the kernel that returned it
  bool lower_bound = false;   // a stop rule held for the first kernel
  bool quiet = false;         // the samples are quiet ones (TimingPolicy)
  double slowdown = 1;        // of the reference, the median
  double least_slowdown = 1;  // less than 1: what was taken for undisturbed was not
  int retaken = 0;            // samples that were taken again, as another process had the core meanwhile
};

double MonotonicSeconds();

// A turn of one kernel among several begins with a run that is not timed, so that with warm caches it finds
// its own data there and not another's; kernels that take long fill them anyway. After `give_up` no new round
// is begun, but one round is always taken. `rounds` counts the finished ones. `reference` may be null.
TimingOutcome TimeInTurns(const TimingPolicy& policy, const TimedReference* reference, Deadline give_up,
                          std::vector<TimedKernel>* kernels, std::atomic<int>* rounds);

}  // namespace kiln
