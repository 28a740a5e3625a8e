// Measures programs on this machine's CPU. Builders compile them (backends/builder), runners run and time them
// (backends/runner), and the outputs of every candidate are compared with those of its original.
//
// Checking. Each task's original is compiled and run once. The interpreter checks chosen elements of the original's
// outputs. Then every element of every candidate's outputs is compared with the original's (reference.h). If the
// original takes longer than `reference_seconds`, only chosen elements of a candidate's outputs are compared, with the
// interpreter. All programs get the same inputs (data.h, seed `data_seed`). If an extremum may cancel out of the
// outputs (StressSets in validator/numeric/tolerance.h), candidates that are timed to the end also run with inputs of
// widely spread magnitudes. Their outputs must be finite where the original's are.
//
// Timing. A quick measurement has one warm-up and three runs. It stops as a lower bound if the fastest run takes more
// than five times MeasureRequest::best_seconds (after one run) or twice best_seconds (after two). A thorough one runs
// until the standard error of its median is 2%. A race times finalists in turns, in up to five processes, until that
// error is 0.5%, but for at least a fifth of `race_rounds` in each. A race of one program is the most careful timing.
// Timed runs own `threads` cores. Builders use the other cores meanwhile, or, if there are none, build before.
//
// Noise. Times are relative to a reference kernel (reference_kernel.h) that runs before and after each sample, and are
// given in seconds of an undisturbed machine. A sample is quiet if the reference kernel beside it took no longer than
// when undisturbed (noise_floor.h). Samples are taken until enough are quiet, but only for a while: for 5 ms, for 50 ms
// in a thorough measurement, and for `race_seconds` per program in a race. If at least half the wanted samples are
// quiet, the faster half of the quiet samples is reported. Otherwise all samples are reported, with the flag
// "disturbed". Some samples during which another process had the core are taken again: retaken=N counts them.
// preempted=N counts those that were kept; with one thread, the time of the other process is subtracted. In a race,
// others=N is the average number of other programs' threads that were ready to run, and "noisy" says that the result
// may be wrong (search/measure/noise.h).
//
// Flags (RecordFlags) tell how a program was measured, among them threads=N; "contract" if it was built with
// contraction (backends/lower/lower.h); "reassociated" if the schedule sums in another order than the program
// (lang/patterns/reassociation.h); and the flags above.
//
// A runner that dies, or a builder that is killed from outside, is started again, and the candidate or original that it
// was working on is tried once more. If that happens again, it counts as a failure of the program. A failure of the
// original is the result of all its candidates, with "the untransformed program" in the message.
//
// The destructor leaves no process and no file behind. Threads: one call at a time; Interrupt from any.
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
  int threads = 1;               // cores of the target and of timed runs, one thread each; 0: all
  bool contract = true;          // of the target: a * b + c may be rounded once
  Policies policies = {};        // of the target
  bool cold_cache = false;       // evicts parameters from the caches before each run
  bool reference_kernel = true;  // false: reports plain clock times
  uint64_t data_seed = 1;

  double run_seconds = 10;        // limit of a candidate, start to answer; less once a best time is known
  double reference_seconds = 60;  // limit of the original; beyond it, only chosen elements are compared
  int64_t run_bytes = 0;          // memory limit of a run; 0: half of the machine's
  int race_rounds = 20;           // samples of each program in a Race
  double race_seconds = 0.25;     // how long a race waits for quiet samples, per program
  BuildLimits build_limits = {};
  std::string object_folder =
      {};  // where built code is kept (backends/builder/object_cache.h); empty: nowhere

  std::string builder_path = {}, runner_path = {};  // empty: looks beside the running executable

  // For tests: called with the kernel of each candidate before the kernel runs; may change it.
  std::function<void(const MeasureRequest&, KernelObject*)> before_run = {};
};

class CpuMeasurer final : public Measurer {
 public:
  // Starts the builder and runner processes and times the reference kernel. kFailedPrecondition if a worker cannot be
  // started, or if there is no room for temporary files; kInternal if the reference kernel cannot be built or run.
  static absl::StatusOr<CpuMeasurer> Start(const CpuMeasurerOptions& options = {});
  CpuMeasurer(CpuMeasurer&&) noexcept;
  ~CpuMeasurer() override;

  const Target& target() const;

  void Announce(const MeasureRequest& request) override;
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  // Returns the seconds spent on building and on running since the start. A build that overlaps with a run counts as
  // running.
  MeasurerSeconds Spent() const override;

  // Returns the flops per second that the reference kernel reaches on one undisturbed core; 0 without a
  // reference kernel.
  double ReferenceRate() const;

  // Ends the present measurement soon; its results have the status `interrupted`. Later calls measure as usual.
  void Interrupt();

  // Returns the pool of builders, with which the caller may build other programs between measurements.
  BuilderPool& builders();

  // Returns the process ids of all workers; 0 for a worker that does not run now.
  std::vector<pid_t> worker_pids() const;

 private:
  class Impl;
  explicit CpuMeasurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
