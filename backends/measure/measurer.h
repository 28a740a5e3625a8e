// Measures programs on this machine's CPU: builders compile (backends/builder), runners run and time
// (backends/runner), and what a candidate computes is compared with what its original computes.
//
// Per task, once, the original is compiled as it is and run; the interpreter vouches for chosen elements of
// its outputs, and then every element of every candidate is compared with them (reference.h). All get the
// same inputs (data.h, seed `data_seed`). Where an extremum may cancel out of the outputs (WideSets in
// validator/numeric/tolerance.h), candidates that are timed to the end also run with inputs that lie far apart, and
// have to be finite where the original is.
//
// Timing: one warm-up and three runs; a candidate stops as a lower bound when its fastest run takes more than
// five times the best (after one) or twice (after two); a thorough one is timed until the standard error of
// its median is 2%. Race times finalists in turns, in five processes, twenty rounds and more until that is
// 0.5%; a race of one is the most careful timing there is. Timed runs own `threads` cores, with a thread on
// each for parallel loops; the next candidates are built on the others meanwhile, or before, if there are no
// others. Times are relative to a reference kernel (reference_kernel.h) that runs before and after each
// sample, and are stated in seconds of a machine that nothing disturbs. Samples beside which it took longer
// than undisturbed (undisturbed.h) are taken again for a while: for 5 ms, 50 ms when thorough, `race_seconds`
// in a race for each who takes part. Of the others the faster half is told; the flags say "disturbed" where
// there are too few. Samples during which another process had the core are taken again too, some of them: the
// flags say retaken=N, and preempted=N of those that stayed, whose time is that of the core where one thread
// ran. Of a race the flags say others=N, threads of others that were ready to run, on average, and "noisy"
// (search/measure/noise.h).
//
// Flags say how: threads=N; "contract", or not (backends/lower/lower.h); "reassociated" where the schedule sums in
// another order than the program is written in (lang/patterns/reassociation.h); and what is said above.
//
// A runner or builder that dies is started again, and what it was at, a candidate or an original, run once
// more; a second time counts against that. A failure of the original itself is the result of all its
// candidates, with "the untransformed program" in the message.
//
// Nothing is left when it is destroyed: no process, no file. Threads: one call at a time; Interrupt from any.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/target/target.h"
#include "search/measure/measurer.h"

namespace kiln {

struct CpuMeasurerOptions {
  int threads = 1;               // cores of the target and of timed runs, a thread each; 0: all
  bool contract = true;          // of the target: a * b + c may round once
  bool cold_cache = false;       // parameters are evicted before each run
  bool reference_kernel = true;  // false: times are as the clock says
  uint64_t data_seed = 1;

  double run_seconds = 10;        // of a candidate, from start to answer; less once a best time is known
  double reference_seconds = 60;  // of the original; if it takes longer, only chosen elements are compared
  int64_t run_bytes = 0;          // memory of a run; 0: half of the machine's
  int race_rounds = 20;           // samples of each in a Race
  double race_seconds = 0.25;     // to wait for calm ones, for each in it
  BuildLimits build_limits = {};
  std::string object_folder =
      {};  // where built code is kept (backends/builder/object_cache.h); empty: nowhere

  std::string builder_path = {}, runner_path = {};  // empty: beside the running executable

  // For tests: may change what is about to be run for a candidate.
  std::function<void(const MeasureRequest&, KernelObject*)> before_run = {};
};

class CpuMeasurer final : public Measurer {
 public:
  // Starts the workers. kFailedPrecondition: one cannot be started, or there is no room for temporary files.
  static absl::StatusOr<CpuMeasurer> Start(const CpuMeasurerOptions& options = {});
  CpuMeasurer(CpuMeasurer&&) noexcept;
  ~CpuMeasurer() override;

  const Target& target() const;

  void Announce(const MeasureRequest& request) override;
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  // Builds that go on while something runs count as running.
  MeasurerSeconds Spent() const override;

  // Multiply-adds of one core, in flops a second, as the reference kernel reaches them; 0 without it.
  double ReferenceRate() const;

  // What is being measured becomes interrupted, soon; a later call measures as usual.
  void Interrupt();

  // For other things to be built on this machine, between calls.
  BuilderPool& builders();

  // Of all workers; 0 for one that is not running now.
  std::vector<pid_t> worker_pids() const;

 private:
  class Impl;
  explicit CpuMeasurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
