// Draws programs of a task from the tiling space, with their features and their throughputs on a simulated machine,
// relative to the fastest of them.
#pragma once

#include "search/cost/cost_model.h"
#include "search/features/kinds.h"
#include "search/measure/simulated_machine.h"
#include "search/propose/measured_history.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "tests/search/tiling_space.h"

namespace kiln {

struct DrawnPrograms {
  FeatureBatch features;
  std::vector<TrainingLabel> labels;

  std::vector<double> Truth() const {
    std::vector<double> truth;
    for (const TrainingLabel& label : labels) truth.push_back(label.throughput);
    return truth;
  }
  void Append(const DrawnPrograms& other, int group) {
    features.dim = other.features.dim;
    for (int p = 0; p < other.features.programs(); ++p) {
      const size_t begin = size_t(other.features.first_row[p]) * features.dim,
                   end = size_t(other.features.first_row[p + 1]) * features.dim;
      features.AppendRows(absl::MakeConstSpan(other.features.values).subspan(begin, end - begin));
      labels.push_back(other.labels[p]);
      labels.back().group = group;
    }
  }
};

inline DrawnPrograms DrawPrograms(const Program& program, int count, FeatureKind kind, uint64_t seed) {
  SearchSpace space{program, Target(), {}, [kind] { return MakePrefilter(Target(), kind); }};
  const Enumeration enumerated = *Enumerate(TilingSpace, program, space.target);
  for (const Sketch& sketch : enumerated.sketches) space.sketches.push_back(sketch.trace);
  const Prefilter prefilter = space.make_prefilter();
  const SimulatedMachine machine{Target()};
  RandomDice dice(Engine{seed});
  DrawnPrograms drawn;
  std::vector<double> seconds;
  while (drawn.features.programs() < count) {
    const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
    if (!point.ok()) continue;
    drawn.features.Append(point->features);
    seconds.push_back(machine.Seconds(point->replayed.program()));
  }
  for (const double throughput : Throughputs(seconds)) drawn.labels.push_back({.throughput = throughput});
  return drawn;
}

}  // namespace kiln
