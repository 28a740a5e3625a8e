// A cost model that knows nothing. The score of a program is a number in [0, 1) drawn from the seed and the
// program's features. It is the baseline that a learned model must beat, and the model for a search that
// only samples. Equal features have equal scores, in any batch and order. Update checks its input and learns
// nothing.
#pragma once

#include <cstdint>

#include "search/cost/cost_model.h"

namespace kiln {

class RandomModel final : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : seed_(seed) {}

  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override;
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override;
  absl::StatusOr<std::string> Save() const override;  // "kiln.random v1 seed=SEED"
  absl::Status Load(absl::string_view bytes) override;

 private:
  uint64_t seed_;
};

}  // namespace kiln
