// How kernels are timed: how many samples, when to stop, what the caches hold. Plain data of a RunRequest (runner.h).
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

// Stops timing after `after_runs` runs if the fastest took longer than `over_seconds`: more runs could not
// make it win.
struct StopRule {
  int after_runs = 1;
  double over_seconds = 0;
};

struct TimingPolicy {
  // Untimed runs; there is always at least one, whose outputs are compared. Memory that it allocates has
  // guards (heap_guard.h). A kernel that allocates gets one more untimed run.
  int warmups = 1;
  int runs = 3;  // wanted samples of each kernel, unless a rule stops it. 0: only check the outputs
  std::vector<StopRule> stop_rules = {};
  // Ends timing early if all samples together took this long. 0: never.
  double enough_seconds = 0;
  // With a reference kernel, samples are taken until `runs` samples of each kernel are quiet: the reference
  // kernel takes at most 1.1 of its undisturbed time before and after them and after their neighbors. This is
  // needed because sharing a core slows each kernel by a different factor, which dividing by the reference
  // kernel's slowdown does not correct. If at least half of `runs` samples of each kernel are quiet in the
  // end, the faster half of the quiet ones is reported, since a disturbance during a sample is not visible
  // before or after it. Otherwise all samples are reported. With `target_error`, sampling goes on until the
  // standard error of the reported median is at most that share of it, or until each kernel has max_samples
  // quiet samples. Once each kernel has `runs` samples, sampling ends after max_seconds in any case.
  double target_error = 0;
  int max_samples = 100;  // limit of reported samples, unless `runs` is larger
  double max_seconds = 1;
  // How many samples in all may be repeated because another process got the core of one of our threads during
  // them. The least disturbed attempt counts. Samples of more than 10 ms are not repeated.
  int retakes = 8;
  // Evicts the parameters from the caches before each run. A sample is then a single run, even a very short
  // one.
  bool cold_cache = false;
  // If not 0, runs are timed as within a model: inputs are in the caches, constants are not. Runs use copies of the
  // constants, and of what is prepared from them, in turn; together the copies have at least this many bytes, as far
  // as 1024 copies do.
  int64_t rotated_bytes = 0;
};

}  // namespace kiln
