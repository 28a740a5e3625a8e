// Measures programs on this machine's CPU. Builders compile them (backends/builder), runners run and time
// them (backends/runner), and every candidate's outputs are compared with those of its original.
//
// Checking. Each task's original is compiled and run once. The interpreter checks chosen elements of its
// outputs. Then every element of every candidate is compared with them (reference.h). All get the same inputs
// (data.h, seed `data_seed`). If an extremum may cancel out of the outputs (StressSets in
// validator/numeric/tolerance.h), candidates that are timed to the end also run with inputs that lie far
// apart. Their outputs must be finite where the original's are.
//
// Timing. A quick measurement has one warm-up and three runs. It stops as a lower bound if the fastest run
// takes more than five times the best (after one run) or twice the best (after two). A thorough one runs
// until the standard error of its median is 2%. A race times finalists in turns, in five processes, for at
// least twenty rounds, until that error is 0.5%. A race of one program is the most careful timing. Timed runs
// own `threads` cores. Builders use the other cores meanwhile, or, if there are none, build before.
//
// Noise. Times are relative to a reference kernel (reference_kernel.h) that runs before and after each
// sample, and are given in seconds of an undisturbed machine. A sample is quiet if the reference kernel
// beside it took as long as undisturbed (noise_floor.h). Others are taken again for a while: for 5 ms, for 50
// ms when thorough, and for `race_seconds` per program in a race. If at least half the wanted samples are
// quiet, the faster half of the quiet ones is reported. Otherwise all samples are, with the flag "disturbed".
// Some samples during which another process had the core are taken again too: retaken=N counts these, and
// preempted=N those that stayed, whose time is that of the core if one thread ran. In a race, others=N is the
// average number of other programs' threads that were ready to run, and "noisy" says that the result may be
// wrong (search/measure/noise.h).
//
// Flags say how: threads=N; "contract", or not (backends/lower/lower.h); "reassociated" where the schedule
// sums in another order than the program is written in (lang/patterns/reassociation.h); and what is said
// above.
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
  double race_seconds = 0.25;     // to wait for quiet ones, for each in it
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
