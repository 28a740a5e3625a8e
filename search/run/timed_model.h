// A cost model that measures the time spent in another cost model. Threads and errors are those of the other model.
#pragma once

#include <memory>
#include <utility>

#include "lang/base/stopwatch.h"
#include "search/cost/cost_model.h"
#include "search/run/round_log.h"

namespace kiln {

class TimedModel final : public CostModel {
 public:
  // Adds the seconds of each Predict and Disagreement to spent->predict, and of each Update to spent->train. `spent`
  // must outlive the model.
  TimedModel(std::unique_ptr<CostModel> model, PhaseSeconds* spent)
      : model_(std::move(model)), spent_(spent) {}

  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override {
    const Stopwatch watch(&spent_->predict);
    return model_->Predict(programs);
  }
  absl::StatusOr<std::vector<double>> Disagreement(const FeatureBatch& programs) const override {
    const Stopwatch watch(&spent_->predict);
    return model_->Disagreement(programs);
  }
  bool Informed() const override { return model_->Informed(); }
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override {
    const Stopwatch watch(&spent_->train);
    return model_->Update(programs, labels);
  }
  absl::StatusOr<std::string> Save() const override { return model_->Save(); }
  absl::Status Load(absl::string_view bytes) override { return model_->Load(bytes); }

 private:
  std::unique_ptr<CostModel> model_;
  PhaseSeconds* const spent_;
};

}  // namespace kiln
