#include "search/propose/measured_history.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

// A cost model that predicts zeros and records the labels of its training data.
class Pupil final : public CostModel {
 public:
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override {
    return std::vector<double>(programs.programs(), 0.0);
  }
  absl::Status Update(const FeatureBatch&, absl::Span<const TrainingLabel> taught) override {
    labels.assign(taught.begin(), taught.end());
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Save() const override { return ""; }
  absl::Status Load(absl::string_view) override { return absl::OkStatus(); }

  std::vector<TrainingLabel> labels;
};

TEST(MeasuredHistory, TeachesFailuresAsTheSlowestAndStoppedRunsAsUpperBounds) {
  MeasuredHistory history(2);
  const FeatureSet features{.dim = 1, .values = {0}};
  history.Add({.task = 0, .seconds = 2}, features);
  history.Add({.task = 0, .seconds = kFailed}, features);
  history.Add({.task = 0, .seconds = 8, .lower_bound = true}, features);
  history.Add({.task = 1, .seconds = 5}, features);
  history.Add({.task = 0, .seconds = 1}, features);
  Pupil pupil;
  ASSERT_EQ(history.Teach(pupil), absl::OkStatus());
  ASSERT_EQ(pupil.labels.size(), 5u);
  const double throughputs[] = {0.5, 0, 0.125, 1, 1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pupil.labels[i].throughput, throughputs[i]) << i;
    EXPECT_EQ(pupil.labels[i].upper_bound, i == 2) << i;
    EXPECT_EQ(pupil.labels[i].group, i == 3) << i;
  }
  EXPECT_LT(pupil.labels[1].weight, pupil.labels[0].weight);
}

TEST(MeasuredHistory, NeverTakesAStoppedRunForTheBest) {
  MeasuredHistory history(1);
  const FeatureSet features{.dim = 1, .values = {0}};
  history.Add({.record = 1, .seconds = 1, .lower_bound = true}, features);
  EXPECT_EQ(history.best_seconds(0), kFailed);
  history.Add({.record = 2, .seconds = 3}, features);
  EXPECT_EQ(history.best_seconds(0), 3);
  ASSERT_EQ(history.Best(0, 5).size(), 1u);
  EXPECT_EQ(history.Best(0, 5)[0]->record, 2);
}

TEST(MeasuredHistory, TeachesWhatIsSetAsideAsAnotherTask) {
  MeasuredHistory history(2);
  const FeatureSet features{.dim = 1, .values = {0}};
  history.Add({.task = 1, .record = 1, .seconds = 2}, features);
  history.hashes(1).insert("program");
  history.SetAside(1);
  history.Add({.task = 1, .record = 2, .seconds = 8}, features);
  EXPECT_FALSE(history.hashes(1).contains("program"));
  EXPECT_EQ(history.best_seconds(1), 8);
  EXPECT_EQ(history.Best(history.Aside(1), 5)[0]->record, 1);
  Pupil pupil;
  ASSERT_EQ(history.Teach(pupil), absl::OkStatus());
  EXPECT_EQ(pupil.labels[0].throughput, 1);
  EXPECT_EQ(pupil.labels[1].throughput, 1);
  EXPECT_NE(pupil.labels[0].group, pupil.labels[1].group);
  history.TakeBack(1);
  EXPECT_TRUE(history.hashes(1).contains("program"));
  EXPECT_EQ(history.best_seconds(1), 2);
  EXPECT_EQ(history.Best(1, 5).size(), 2u);
}

}  // namespace
}  // namespace kiln
