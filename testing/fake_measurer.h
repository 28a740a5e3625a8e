// A measurer for tests of searches. It builds and runs nothing: a function says how long each program takes.
// It keeps the times that it reported.
//
//   FakeMeasurer machine([](const Program& program) { return 1e-6 * program.nodes.size(); });
//   Tune(..., machine, ...);
//   EXPECT_EQ(machine.raced.size(), 4);
//
// For a plausible machine with noise and failures, see search/measure/simulated_machine.h.
// Errors: none. Threads: one call at a time.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "search/measure/measurer.h"

namespace kiln {

class FakeMeasurer final : public Measurer {
 public:
  using SecondsOf = std::function<double(const Program&)>;
  explicit FakeMeasurer(SecondsOf seconds_of) : seconds_of_(std::move(seconds_of)) {}

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override {
    return Times(requests, measured);
  }
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override {
    return Times(candidates, raced);
  }

  std::vector<double> measured, raced;  // seconds, in the order of the requests

 private:
  std::vector<MeasureResult> Times(absl::Span<const MeasureRequest> requests, std::vector<double>& seconds) {
    std::vector<MeasureResult> results;
    for (const MeasureRequest& request : requests) {
      seconds.push_back(seconds_of_(*request.scheduled));
      results.push_back({.status = std::string(outcome::kOk),
                         .samples = {seconds.back(), seconds.back(), seconds.back()},
                         .verified = true});
    }
    return results;
  }

  SecondsOf seconds_of_;
};

}  // namespace kiln
