// Records the results of a measurer and repeats them for equal scheduled programs, found by their
// structural hash. A search on a recording repeats bit for bit, whatever the machine does (design
// D14).
//
// Quick measurements, thorough ones and races of a program are recorded separately. Interrupted
// results are not recorded. Threads: one call at a time.
#pragma once

#include <map>
#include <string>

#include "search/measure/measurer.h"

namespace kiln {

// Measurement results by key: the program's structural hash and how it was measured, "<hash> quick", "<hash> thorough"
// or "<hash> race".
using Recording = std::map<std::string, MeasureResult>;

class RecordedMeasurer final : public Measurer {
 public:
  // If `recording` lacks a result, asks `machine` and records its answer. A race of which one result is missing is run
  // again with all its programs. Without a machine, the result is "interrupted".
  explicit RecordedMeasurer(Recording& recording, Measurer* machine = nullptr)
      : recording_(recording), machine_(machine) {}

  void Announce(const MeasureRequest& request) override;
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;

 private:
  Recording& recording_;
  Measurer* machine_;
};

}  // namespace kiln
