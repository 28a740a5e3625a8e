// A fake Measurer that computes times by a formula (design D15). Whole searches run on it in milliseconds.
//
// The time of a program is a constant plus the sum over its blocks (those without blocks inside, outside of the prepare
// phase) of three parts. Arithmetic is divided by the lanes of a vectorized loop if its accesses are contiguous, and
// counts four times if the unrolled code is longer than the target allows. Each iteration of a serial or parallel loop
// has an overhead. Data are fetched into three caches. A cache fetches the data of a loop again in each iteration,
// unless they fit. Parallel loops divide the three parts by their iterations, at most by the cores. The formula is
// crude, but it rewards what real machines reward: tiles that fit, unit strides, vectors, and moderate unrolling.
//
// Injected failures are functions of the seed and the program's structural hash. Noise also depends on the kind of
// measurement (quick, thorough or race). So a program gets the same result in any order and in any process. A quick
// measurement of a program that takes more than twice MeasureRequest::best_seconds is marked as a lower bound. Thread
// safe.
#pragma once

#include <cstdint>

#include "lang/target/target.h"
#include "search/measure/measurer.h"

namespace kiln {

struct SimulatedOptions {
  uint64_t seed = 0;
  double noise = 0.02;  // a sample is the time * (1 + |x|), x normal with this standard deviation
  int samples = 3;      // samples of each candidate; five times as many if thorough or in a race
  // Fractions of the programs that get each simulated failure.
  double build_failures = 0, crashes = 0, hangs = 0, memory_hogs = 0, wrong_results = 0;
};

class SimulatedMachine final : public Measurer {
 public:
  explicit SimulatedMachine(const Target& target, const SimulatedOptions& options = {})
      : target_(target), options_(options) {}

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;

  // Returns the simulated time of a program in seconds, without noise.
  double Seconds(const Program& program) const;
  // Returns the outcome that the seed assigns to a program: "ok", or a simulated failure (search/outcome.h).
  absl::string_view Fate(const Program& program) const;

 private:
  MeasureResult Run(const MeasureRequest& request, int samples, uint64_t purpose) const;

  Target target_;
  SimulatedOptions options_;
};

}  // namespace kiln
