// Times one or several kernels as TimingPolicy says (timing_policy.h), on the calling thread. The caller has run each
// kernel once and passes how long that took.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/runner/runner.h"
#include "backends/workers/frames.h"

namespace kiln {

// A kernel's function with its arguments. `call(function, arguments)` runs the kernel and returns its status.
struct BoundKernel {
  int (*call)(void* function, void* const* arguments) = nullptr;
  void* function = nullptr;
  std::vector<void*> arguments;

  int Run() const { return call(function, arguments.data()); }
};

// Returns the function that calls the kernel (BoundKernel::call): it passes all arguments as one table if the kernel
// takes a table, otherwise one by one. Without a table, the kernel must have at most kMaxKernelParams parameters.
decltype(BoundKernel::call) CallerFor(const KernelObject& kernel);

struct TimedKernel {
  BoundKernel kernel;
  // Lists of arguments that runs use in turn. If empty, all runs use the kernel's own arguments.
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

// The reference kernel (RunRequest::reference_kernel) with its arguments, and the seconds of an undisturbed run.
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

// Takes samples of kernels in turns until the policy is satisfied, and stores them in `kernels`. Takes none if
// policy.runs is 0. With warm caches, an untimed run precedes a sample if other kernels ran since the kernel's last
// run, so that the kernel finds its data in the caches. Long runs need none, as they fill the caches early enough: 0.1
// s with several kernels, 1 ms with only a reference kernel. No new round begins after `give_up`, but one round always
// runs. `rounds` counts finished rounds. `reference` may be null. A status that is not 0 ends the timing.
TimingOutcome TimeInTurns(const TimingPolicy& policy, const TimedReference* reference, Deadline give_up,
                          std::vector<TimedKernel>* kernels, std::atomic<int>* rounds);

// The results of RunProfiled: for each run, the seconds that each of the kernel's calls took.
struct CallProfile {
  int status = 0;                                 // the first nonzero one, which ends it
  std::vector<std::vector<double>> call_seconds;  // by run, then by call
};

// Runs `kernel`, the profiled function with the kernel's arguments (ProfiledRuns in runner.h), `runs` times, but at
// least once. The function also gets an array, to which it writes the time before its first call and after each of its
// `calls` calls. No further run begins after `give_up`. A status that is not 0 ends the runs.
CallProfile RunProfiled(BoundKernel kernel, int calls, int runs, Deadline give_up);

// Returns how many copies of its constants a kernel needs, the original included, so that together they have at least
// `rotated_bytes` (TimingPolicy::rotated_bytes); at most 1024. If the prepare function writes arrays, their bytes count
// instead of those of the constants. Returns 1 for products of a library (KernelObject::product), if there are no such
// bytes, or if `rotated_bytes` is 0.
int64_t CopiesOfConstants(const KernelObject& kernel, int64_t rotated_bytes);

// Returns the memory that CopyConstants takes at most, without the originals, in bytes: for each copy of an array its
// size and two pages, and for each array a huge page.
int64_t BytesOfCopies(const KernelObject& kernel, int64_t rotated_bytes);

// Copies a kernel's constants and prepared parameters. Returns the kernel's arguments for each copy, the given ones
// first; nothing if one copy is enough, or there is no memory. Call it after the prepare function. Nothing is freed.
std::vector<std::vector<void*>> CopyConstants(const KernelObject& kernel, const std::vector<void*>& arguments,
                                              int64_t rotated_bytes);

}  // namespace kiln
