// Records what a measurer answers, and repeats it for the same scheduled program, which it finds by its
// structural hash. A search on a recording repeats bit for bit, whatever the machine does meanwhile (design
// D14).
//
// Quick measurements, thorough ones and races of a program are kept apart. Interrupted results are not kept.
// Threads: one call at a time.
#pragma once

#include <map>
#include <string>

#include "search/measure/measurer.h"

namespace kiln {

// By "<hash> quick", "<hash> thorough" or "<hash> race".
using Recording = std::map<std::string, MeasureResult>;

class RecordedMeasurer final : public Measurer {
 public:
  // Asks `machine` for what `recording` does not hold, and records it.
  // Without a machine the answer is then "interrupted".
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
