// Guesses without any measurement how fast a program is, from the cycles of the roofline
// (search/features/features.h).
#pragma once

#include "absl/types/span.h"
#include "search/cost/cost_model.h"

namespace kiln {

// Returns the negative logarithm of a program's cycles: its log throughput up to a constant of the machine.
// Each row has FeatureDim() numbers. Pure; any thread.
double AnalyticScore(absl::Span<const float> rows);

// The analytic score as a cost model. It is informed from the start. Update checks its input and learns
// nothing.
class AnalyticModel final : public CostModel {
 public:
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override;
  bool Informed() const override { return true; }
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override;
  absl::StatusOr<std::string> Save() const override;  // "kiln.roofline v1"
  absl::Status Load(absl::string_view bytes) override;
};

}  // namespace kiln
