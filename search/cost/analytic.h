// Guesses without any measurement how fast a program is, from the cycles of the CPU's roofline
// (search/features/features.h) or the GPU's (search/features/gpu_roofline.h).
#pragma once

#include "absl/types/span.h"
#include "search/cost/cost_model.h"
#include "search/features/kinds.h"

namespace kiln {

// Reads the estimated cycles c of a program from the column of cycles of its first row, and returns -ln(1 + c): the log
// throughput up to a constant of the machine. Returns 0 without rows. Each row has FeatureDim(kind) numbers, and the
// kind has a CyclesColumn. Pure; any thread.
double AnalyticScore(absl::Span<const float> rows, FeatureKind kind = FeatureKind::kAnsor);

// A cost model whose scores are those of AnalyticScore. It is informed from the start. Update checks its input and
// learns nothing.
class AnalyticModel final : public CostModel {
 public:
  // `kind` is the kind of the features that the model reads. It must have a column of cycles (CyclesColumn).
  explicit AnalyticModel(FeatureKind kind = FeatureKind::kAnsor) : kind_(kind) {}
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override;
  bool Informed() const override { return true; }
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override;
  absl::StatusOr<std::string> Save() const override;  // "kiln.roofline v1"
  absl::Status Load(absl::string_view bytes) override;

 private:
  const FeatureKind kind_;
};

}  // namespace kiln
