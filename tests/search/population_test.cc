#include "search/sampler/population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "absl/strings/match.h"
#include "tests/search/exact_chain.h"

namespace kiln {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

// A cost model that scores a program by the sum of its features, times a factor. It does not learn.
class SumModel final : public CostModel {
 public:
  explicit SumModel(double factor = 1) : factor_(factor) {}
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const override {
    std::vector<double> scores;
    for (int p = 0; p < programs.programs(); ++p) {
      const float* first = programs.values.data();
      scores.push_back(
          factor_ * std::accumulate(first + programs.first_row[p], first + programs.first_row[p + 1], 0.0));
    }
    return scores;
  }
  absl::Status Update(const FeatureBatch&, absl::Span<const TrainingLabel>) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Save() const override { return std::string(); }
  absl::Status Load(absl::string_view) override { return absl::OkStatus(); }

 private:
  double factor_;
};

// Returns a toy space in which a program has one feature: minus its toy energy.
SearchSpace WithFeatures(SearchSpace space) {
  space.make_prefilter = [make = space.make_prefilter]() -> Prefilter {
    return [prefilter = make()](const Replayed& replayed, FeatureSet& features) {
      Candidate at{0, {}, 0};
      for (const ReplayedSite& site : replayed.sites) at.decisions.push_back(site.decision);
      features = {1, {static_cast<float>(-toy::Energy(at))}};
      return prefilter(replayed, features);
    };
  };
  return space;
}

PopulationOptions Exact(int chains, int steps, double floor) {
  PopulationOptions options;
  options.chains = chains;
  options.steps = steps;
  options.floor = floor;
  options.from_best = options.from_prior = 0;
  return options;
}

std::vector<std::vector<Decision>> Decisions(const Population& population) {
  std::vector<std::vector<Decision>> all;
  for (const Candidate& c : population.Save().chains) all.push_back(c.decisions);
  return all;
}

TEST(Population, SamplesItsTargetAtTheFloor) {
  const SearchSpace space = WithFeatures(toy::Nested());
  ThreadPool pool(1);
  Population population(space, Exact(1500, 16, 0.5), 1, 0, pool);
  ASSERT_TRUE(population.Start().ok());
  ASSERT_TRUE(population.Round(0, SumModel(), {}, nullptr).ok());
  EXPECT_DOUBLE_EQ(population.stats().temperature, 0.5);

  const toy::ExactChain exact(space);
  std::vector<double> scores;  // of the prior, each point as often as it is likely
  for (int i = 0; i < exact.size(); ++i) {
    scores.insert(scores.end(), std::lround(exact.prior(i) * 100000),
                  -toy::Energy(CandidateOf(exact.point(i), 0)));
  }
  const std::vector<double> target = exact.Target(0.5 * ScaleOf(scores).spread);
  std::map<std::vector<Decision>, double> share;
  for (const auto& decisions : Decisions(population)) share[decisions] += 1.0 / 1500;
  for (int i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(share[CandidateOf(exact.point(i), 0).decisions], target[i], 0.04);
  }
}

TEST(Population, StaysInItsTargetWhenTheModelChanges) {
  const SearchSpace space = WithFeatures(toy::Nested());
  ThreadPool pool(1);
  Population population(space, Exact(1500, 16, 0.5), 1, 0, pool);
  ASSERT_TRUE(population.Start().ok());
  ASSERT_TRUE(population.Round(0, SumModel(-1), {}, nullptr).ok());  // the first model reverses the order
  ASSERT_TRUE(population.Round(1, SumModel(1), {}, nullptr).ok());
  Population straight(space, Exact(1500, 16, 0.5), 2, 0, pool);
  ASSERT_TRUE(straight.Start().ok());
  ASSERT_TRUE(straight.Round(0, SumModel(1), {}, nullptr).ok());
  std::map<std::vector<Decision>, double> difference;
  for (const auto& decisions : Decisions(population)) difference[decisions] += 1.0 / 1500;
  for (const auto& decisions : Decisions(straight)) difference[decisions] -= 1.0 / 1500;
  for (const auto& [decisions, d] : difference) EXPECT_NEAR(d, 0, 0.06);
}

TEST(Population, ArchivesDistinctCandidatesBestFirst) {
  const SearchSpace space = WithFeatures(toy::Nested());
  ThreadPool pool(1);
  PopulationOptions options = Exact(64, 16, 0.1);
  options.archive = 10;
  Population population(space, options, 1, 0, pool);
  ASSERT_TRUE(population.Start().ok());
  const auto archive = population.Round(0, SumModel(), {}, nullptr);
  ASSERT_TRUE(archive.ok());
  ASSERT_THAT(*archive, SizeIs(10));
  for (size_t i = 1; i < archive->size(); ++i) {
    EXPECT_LE((*archive)[i - 1].energy, (*archive)[i].energy);
    EXPECT_NE((*archive)[i - 1].decisions, (*archive)[i].decisions);
  }
  const toy::ExactChain exact(space);
  double least = 3;
  for (int i = 0; i < exact.size(); ++i) least = std::min(least, toy::Energy(CandidateOf(exact.point(i), 0)));
  EXPECT_EQ(toy::Energy((*archive)[0]), least);
}

TEST(Population, DoesTheSameWithAnyNumberOfThreadsAndAfterRestoring) {
  const SearchSpace space = WithFeatures(toy::Structured());
  PopulationOptions options;
  options.chains = 32;
  const auto run = [&](int threads, bool restore) {
    ThreadPool pool(threads);
    auto population = std::make_unique<Population>(space, options, 7, 0, pool);
    EXPECT_TRUE(population->Start().ok());
    for (int round = 0; round < 4; ++round) {
      const Candidate best{2, {Decision{4}}, 0};
      EXPECT_TRUE(population->Round(round, SumModel(1 + 0.1 * round), {best}, nullptr).ok());
      if (!restore) continue;
      const Population::State state = population->Save();
      population = std::make_unique<Population>(space, options, 7, 0, pool);
      EXPECT_TRUE(population->Restore(state).ok());
    }
    return Decisions(*population);
  };
  const auto once = run(1, false);
  EXPECT_EQ(run(2, false), once);
  EXPECT_EQ(run(4, true), once);
}

TEST(Population, EndsBetweenStepsWhenStopped) {
  const SearchSpace space = WithFeatures(toy::Nested());
  ThreadPool pool(1);
  Population population(space, Exact(8, 8, 0.2), 1, 0, pool);
  ASSERT_TRUE(population.Start().ok());
  const std::atomic<bool> stop = true;
  EXPECT_EQ(population.Round(0, SumModel(), {}, &stop).status().code(), absl::StatusCode::kCancelled);
}

TEST(Population, SaysWhyNothingMayBeMeasured) {
  const SearchSpace space = toy::Nested([](const Candidate&) { return true; });
  ThreadPool pool(1);
  Population population(space, Exact(8, 8, 0.2), 1, 0, pool);
  const absl::Status status = population.Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "none of 100 draws")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "refused")) << status;
}

}  // namespace
}  // namespace kiln
