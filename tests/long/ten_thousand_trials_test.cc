// A long search on the simulated machine: what it keeps, and what training costs.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "modules/space.h"
#include "search/cost/models.h"
#include "search/database/memory_store.h"
#include "search/simulated_machine.h"
#include "search/tune.h"
#include "tests/support/tiled_matmul.h"

namespace kiln {
namespace {

constexpr double kSecondsToMeasure = 6.0 / 64;  // a candidate, on a real machine

// Notes the time that updates take.
class Timed final : public CostModel {
 public:
  Timed(std::unique_ptr<CostModel> model, double* seconds) : model_(std::move(model)), seconds_(seconds) {}
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& p) const override {
    return model_->Predict(p);
  }
  bool Informed() const override { return model_->Informed(); }
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override {
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = model_->Update(programs, labels);
    *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return status;
  }
  absl::StatusOr<std::string> Save() const override { return model_->Save(); }
  absl::Status Load(absl::string_view bytes) override { return model_->Load(bytes); }

 private:
  std::unique_ptr<CostModel> model_;
  double* seconds_;
};

double PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(TenThousandTrials, StayUnderAGibibyteAndTrainingUnderATwentiethOfTheFirstThousand) {
  Target target;
  target.cores = 1;
  SimulatedMachine machine(target);
  const auto store = MakeMemoryStore();
  double training = 0, training_of_1000 = 0, elapsed_of_1000 = 0;
  TuneOptions options;
  options.trials = 10000;
  options.sketches.space = DefaultSpace(target);
  options.model = [&](int) -> absl::StatusOr<std::unique_ptr<CostModel>> {
    return std::make_unique<Timed>(MakeCostModel("trees").value(), &training);
  };
  options.progress = [&](const TuneProgress& progress) {
    if (progress.total_trials > 1000) return;
    training_of_1000 = training;
    elapsed_of_1000 = progress.seconds + progress.total_trials * kSecondsToMeasure;
  };
  const auto results = Tune({{"matmul", Matmul(1024, 1024, 1024), 0}},
                            ParseSpace(options.sketches.space).value(), target, options, machine, *store);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].trials, 10000);
  std::printf("peak memory %.0f MiB; training %.1f s of the first 1000 trials' %.1f s, %.1f s of all\n",
              PeakMebibytes(), training_of_1000, elapsed_of_1000, training);
  EXPECT_LT(PeakMebibytes(), 1024);
  EXPECT_LT(training_of_1000, 0.05 * elapsed_of_1000);
}

}  // namespace
}  // namespace kiln
