// Takes the samples of one or several kernels according to TimingPolicy (runner.h). Single-threaded. The
// caller has run each kernel once and passes how long that took.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/runner/runner.h"
#include "backends/workers/frames.h"

namespace kiln {

// A kernel with its arguments: `call(function, arguments)` runs it.
struct BoundKernel {
  int (*call)(void* function, void* const* arguments) = nullptr;
  void* function = nullptr;
  std::vector<void*> arguments;

  int Run() const { return call(function, arguments.data()); }
};

// Returns the value of BoundKernel::call for this kernel: it passes the arguments as a table, or one by one. Without a
// table, the kernel must have at most kMaxKernelParams parameters.
decltype(BoundKernel::call) CallerFor(const KernelObject& kernel);

struct TimedKernel {
  BoundKernel kernel;
  // Arguments that runs use in turn instead of the kernel's own; empty: only those.
  std::vector<std::vector<void*>> rotated;
  size_t next = 0;                                      // of these
  std::vector<std::pair<const void*, int64_t>> memory;  // what is evicted for a cold cache: address, bytes
  double warm_up_seconds = 0;
  std::vector<double> seconds;      // receives the reported samples
  std::vector<double> raw_samples;  // receives RunResult::raw_samples
  int preempted = 0;                // samples during which another process had the core

  int Run() {
    if (rotated.empty()) return kernel.Run();
    next = (next + 1) % rotated.size();
    return kernel.call(kernel.function, rotated[next].data());
  }
};

// The reference kernel (RunRequest::reference_kernel).
struct TimedReference {
  BoundKernel kernel;
  double seconds = 0;
};

struct TimingOutcome {
  int status = 0;             // the first nonzero one, which ends the timing
  int failed = -1;            // number of the kernel that returned it
  bool lower_bound = false;   // a stop rule applied to the first kernel
  bool quiet = false;         // the reported samples are quiet ones (TimingPolicy)
  double slowdown = 1;        // median slowdown of the reference kernel
  double least_slowdown = 1;  // below 1, the undisturbed time of the reference kernel was too long
  int retaken = 0;            // repeated samples, during which another process had the core
};

double MonotonicSeconds();

// Times kernels in turns. With warm caches, a turn of one kernel among several begins with an untimed run, so
// that it finds its own data in the caches; long runs fill the caches anyway. No new round begins after
// `give_up`, but one round always runs. `rounds` counts finished rounds. `reference` may be null.
TimingOutcome TimeInTurns(const TimingPolicy& policy, const TimedReference* reference, Deadline give_up,
                          std::vector<TimedKernel>* kernels, std::atomic<int>* rounds);

// Runs of a kernel that writes the time after each of its calls (ProfiledRuns in runner.h).
struct CallProfile {
  int status = 0;                                 // the first nonzero one, which ends it
  std::vector<std::vector<double>> call_seconds;  // by run, then by call
};

// Runs `kernel`, the profiled function with the kernel's arguments, `runs` times. It also gets an array for calls + 1
// times. No run begins after `give_up`, but one always does.
CallProfile RunProfiled(BoundKernel kernel, int calls, int runs, Deadline give_up);

// Returns how many copies of a kernel's constants there are in all (TimingPolicy::rotated_bytes), the original included.
// If the prepare function writes arrays, their bytes count instead of those of the constants.
int64_t CopiesOfConstants(const KernelObject& kernel, int64_t rotated_bytes);

// Returns the bytes of the copies, without the original.
int64_t BytesOfCopies(const KernelObject& kernel, int64_t rotated_bytes);

// Copies constants and prepared parameters. Returns the kernel's arguments for each copy, the given ones first; none
// if one copy is enough, or there is no memory. Call it after the prepare function. Nothing is freed.
std::vector<std::vector<void*>> CopyConstants(const KernelObject& kernel, const std::vector<void*>& arguments,
                                              int64_t rotated_bytes);

}  // namespace kiln
