// Measures candidates: the border between the search and a machine (design D12, D15).
//
// The search passes scheduled programs and gets a result for each. If a program crashes, hangs or computes
// something else, its result has another status; the call itself never fails.
//
// Implementations: CpuMeasurer (backends/measure/measurer.h) builds and runs programs in separate processes.
// GpuMeasurer (backends/measure/gpu_measurer.h) does so on a GPU. StaticMachine (backends/measure/static_machine.h)
// compiles for a GPU that is not there, estimates cycles in place of times, and runs programs only at the end, in an
// emulator. simulated_machine.h is an analytic model for tests and demonstrations. recorded_measurer.h repeats the
// results of another measurer. In tests, FakeMeasurer (testing/fake_measurer.h) reports the times that a function
// gives. Derive your own for another machine.
//
// Threads: one call at a time. The simulated machine and a recording give equal bits for equal calls; a real
// machine does not. Times are in seconds.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lang/program/program.h"
#include "search/database/record_flags.h"
#include "search/outcome.h"

namespace kiln {

// A program to measure, and the original with which its outputs are compared. Both programs must live until the call
// returns.
struct MeasureRequest {
  int task = 0;  // number of the task within a run; equal for equal originals
  // The untransformed program, whose outputs are the reference for those of the scheduled program.
  const Program* original = nullptr;
  const Program* scheduled = nullptr;  // the program to time
  // Best time of the task so far in seconds, 0 if unknown. A measurer may stop a much slower program early.
  double best_seconds = 0;
  bool thorough = false;  // sample until the median is certain, instead of the usual few samples
  bool in_model = false;  // time as within a model: constants are not in the caches (Caches::kInModel)
};

struct MeasureResult {
  std::string status = std::string(outcome::kInterrupted);
  std::string error = {};            // one line for people; empty when ok
  std::vector<double> samples = {};  // seconds of one execution each: those that count, in the order taken
  std::vector<double> raw_samples = {};  // the whole timing (RecordRow::raw_samples)
  bool lower_bound = false;              // stopped early: the program is at least this slow
  bool verified = false;                 // its outputs were compared with the original's and agree
  RecordFlags flags = {};                // how it was built and timed
  std::string facts = "{}";              // a JSON object with other facts (RecordRow::facts)

  bool ok() const { return status == outcome::kOk; }
};

// Seconds spent on building and on running since the measurer was created.
struct MeasurerSeconds {
  double build = 0, run = 0;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  // Announces a program that will be measured soon, so that building may begin. The program need not outlive
  // the call.
  virtual void Announce(const MeasureRequest&) {}

  // Builds, runs and times the programs. Returns one result for each request, in order. Programs may be built in
  // parallel. They are timed so that none disturbs another.
  virtual std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) = 0;

  // Times candidates of one task in turns, so that a drift of the machine affects all of them alike. Returns
  // one result for each request, in order. Compare the medians: each result holds only the samples that
  // count, which may be from different turns.
  virtual std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) = 0;

  // Returns true if Race checks more than Measure does, for example the results of kernels. Then a task with a single
  // finalist races too.
  virtual bool RacesCheck() const { return false; }

  // Returns the seconds spent on building and on running, or zeros if the measurer does not track them. The caller then
  // counts all time as running.
  virtual MeasurerSeconds Spent() const { return {}; }
};

}  // namespace kiln
