// How a runner times kernels: how many samples, when to stop, what the caches hold. Plain data of a RunRequest
// (runner.h).
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

// Stops the timing once the request's first kernel has at least `after_runs` samples and the fastest of them took
// longer than `over_seconds`: more samples could not make the kernel win.
struct StopRule {
  int after_runs = 1;
  double over_seconds = 0;
};

struct TimingPolicy {
  // The number of untimed runs before the timing; at least one always runs, and its outputs are compared. Memory that
  // the kernel allocates in the first run has guards (heap_guard.h). A kernel that allocates gets one more untimed run.
  int warmups = 1;
  int runs = 3;  // wanted samples of each kernel, unless a rule stops it. 0: only check the outputs
  std::vector<StopRule> stop_rules = {};
  // Ends timing early if all samples together took this long. 0: never.
  double enough_seconds = 0;
  // When to stop with a reference kernel. Samples are taken until `runs` samples of each kernel are quiet: the
  // reference kernel takes at most 1.1 of its undisturbed time before and after them and after their neighbors. This is
  // needed because sharing a core slows each kernel by a different factor, which dividing by the reference kernel's
  // slowdown does not correct. If at least half of `runs` samples of each kernel are quiet in the end, the faster half
  // of the quiet ones is reported, since a disturbance during a sample is not visible before or after it. Otherwise all
  // samples are reported. If `target_error` is not 0, sampling goes on until the relative standard error of the
  // reported median is at most `target_error`, or until each kernel has max_samples quiet samples. Once each kernel has
  // `runs` samples, sampling ends after max_seconds in any case.
  double target_error = 0;
  int max_samples = 100;  // limit of reported samples, unless `runs` is larger
  double max_seconds = 1;
  // The limit of samples, in all, that are taken again because another process got the core of one of the runner's
  // threads during them. The least disturbed attempt counts. Samples of more than 10 ms are not repeated.
  int retakes = 8;
  // Evicts the parameters from the caches before each run. A sample is then a single run, even a very short
  // one.
  bool cold_cache = false;
  // If not 0, kernels are timed as within a model: inputs are in the caches, constants are not. Runs use copies of the
  // constants, and of what is prepared from them, in turn. Together the copies have at least this many bytes, unless
  // that takes more than 1024 copies.
  int64_t rotated_bytes = 0;
};

}  // namespace kiln
