// Measuring candidates: the border between the search and a machine (design D12, D15).
//
// The search hands over scheduled programs and gets a result for each. A program that crashes, hangs or
// computes something else gives a result with another status, never an error of the call.
//
// Implementations: CpuMeasurer (backends/measure/measurer.h) builds and runs in processes of its own;
// simulated_machine.h is an analytic model for tests and demonstrations; recorded_measurer.h repeats the
// answers of another measurer. Derive your own for another machine.
//
// Threads: one call at a time. The simulated machine and a recording give the same bits for the same calls; a
// real machine does not. Times are in seconds.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lang/program/program.h"
#include "search/database/record_flags.h"
#include "search/outcome.h"

namespace kiln {

// Both programs must live until the call returns.
struct MeasureRequest {
  int task = 0;  // names the task within a run; equal for equal originals
  const Program* original =
      nullptr;  // the untransformed program, with whose outputs those of the other are compared
  const Program* scheduled = nullptr;  // what is timed
  double best_seconds = 0;  // of the task so far, 0 if unknown: what is much slower may be stopped early
  bool thorough = false;    // take samples until their median is sure, instead of the usual few
};

struct MeasureResult {
  std::string status = std::string(outcome::kInterrupted);
  std::string error = {};            // one line for a person; empty when ok
  std::vector<double> samples = {};  // seconds of one execution each: those that count, in the order taken
  std::vector<double> taken = {};    // the whole timing (RecordRow::taken)
  bool lower_bound = false;          // stopped early: it is at least this slow
  bool verified = false;             // its outputs were compared with the original's, and agree
  RecordFlags flags = {};            // how it was built and timed, for the record

  bool ok() const { return status == outcome::kOk; }
};

// Seconds that went to building and to running, since the measurer was made.
struct MeasurerSeconds {
  double build = 0, run = 0;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  // Will be among what is measured next: building may begin. The program need not live longer than the call.
  virtual void Announce(const MeasureRequest&) {}

  // One result for each request, in order. They may be built in parallel;
  // they are timed so that none disturbs another.
  virtual std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) = 0;

  // Times candidates of one task in turns, so that drift of the machine meets all alike. One result for each
  // request, in order. Medians are compared: of each only what counts is told, not the same turns of all.
  virtual std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) = 0;

  // Zeros if it does not count: all of its time is then told as running.
  virtual MeasurerSeconds Spent() const { return {}; }
};

}  // namespace kiln
