#include "search/cost/cost_model.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "search/cost/loss.h"
#include "search/cost/random_model.h"
#include "search/cost/rank.h"
#include "search/cost/xgboost_model.h"

namespace kiln {
namespace {

constexpr int kDim = 164;

struct Data {
  FeatureBatch programs;
  std::vector<TrainingLabel> labels;

  std::vector<double> Throughputs() const {
    std::vector<double> t;
    for (const TrainingLabel& l : labels) t.push_back(l.throughput);
    return t;
  }
};

// Returns features and throughputs of synthetic programs. The time of a row depends on three of its features: it grows
// with the distance of one from 0.6 and with a second one, and has a step in a third. The time of a program is a
// constant plus the sum over its rows, and its throughput is the smallest time of all divided by its own.
Data Synthetic(int programs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  Data data;
  data.programs.dim = kDim;
  std::vector<double> times;
  for (int p = 0; p < programs; ++p) {
    const int rows = 1 + static_cast<int>(random() % 6);
    std::vector<float> values(static_cast<size_t>(rows) * kDim);
    for (float& v : values) v = uniform(random);
    double time = 0.2;
    for (int r = 0; r < rows; ++r) {
      const float* x = &values[static_cast<size_t>(r) * kDim];
      time += 0.3 + 4 * std::abs(x[3] - 0.6) + 2 * x[70] + (x[120] > 0.5 ? 1.5 : 0.0);
    }
    data.programs.AppendRows(values);
    times.push_back(time);
  }
  const double best = *std::min_element(times.begin(), times.end());
  for (const double time : times) data.labels.push_back({.throughput = best / time});
  return data;
}

std::unique_ptr<CostModel> Make(XgboostOptions options = {}, int dim = kDim) {
  return MakeXgboostModel(dim, options).value();
}

std::unique_ptr<CostModel> Trained(const Data& data, XgboostOptions options = {}) {
  auto model = Make(options);
  EXPECT_EQ(model->Update(data.programs, data.labels), absl::OkStatus());
  return model;
}

void ForceOpenMpThreads(int threads) {
  auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  ASSERT_NE(set, nullptr);
  set(threads);
}

TEST(FeatureBatch, KnowsWhereEachProgramsRowsBegin) {
  FeatureBatch batch{.dim = 2};
  batch.AppendRows({1, 2, 3, 4});
  batch.Append(FeatureSet{.dim = 2, .values = {5, 6}});
  EXPECT_EQ(batch.programs(), 2);
  EXPECT_EQ(batch.rows(), 3);
  EXPECT_EQ(batch.first_row, (std::vector<int32_t>{0, 2, 3}));
  batch.Clear();
  EXPECT_EQ(batch.programs(), 0);
  EXPECT_EQ(batch.dim, 2);
}

TEST(FeatureBatch, TakesItsDimFromTheFirstProgram) {
  FeatureBatch batch;
  batch.Append(FeatureSet{.dim = 3, .values = {1, 2, 3}});
  EXPECT_EQ(batch.dim, 3);
  EXPECT_DEATH(batch.Append(FeatureSet{.dim = 2, .values = {1, 2}}), "2 features a row, batch has 3");
}

TEST(XgboostModel, PredictsZerosBeforeItLearns) {
  const Data data = Synthetic(3, 1);
  EXPECT_EQ(*Make()->Predict(data.programs), (std::vector<double>{0, 0, 0}));
}

class XgboostModelLoss : public testing::TestWithParam<Loss> {};

TEST_P(XgboostModelLoss, OrdersUnseenProgramsAfterSixtyFourPrograms) {
  double sum = 0;
  for (int seed = 0; seed < 3; ++seed) {
    const auto model = Trained(Synthetic(64, 100 + seed), {.loss = {.kind = GetParam()}});
    const Data unseen = Synthetic(500, 200 + seed);
    sum += *RankAccuracy(*model->Predict(unseen.programs), unseen.Throughputs());
  }
  EXPECT_GT(sum / 3, 0.8);
}

TEST_P(XgboostModelLoss, OrdersProgramsOfOneRowAfterTraining) {
  const auto model = Trained(Synthetic(300, 7), {.loss = {.kind = GetParam()}});
  const Data single = Synthetic(2000, 9);
  FeatureBatch rows{.dim = kDim};
  std::vector<double> truth;
  for (int p = 0; p < single.programs.programs(); ++p) {
    if (single.programs.first_row[p + 1] - single.programs.first_row[p] != 1) continue;
    rows.AppendRows(absl::MakeConstSpan(
        &single.programs.values[static_cast<size_t>(single.programs.first_row[p]) * kDim], kDim));
    truth.push_back(single.labels[p].throughput);
  }
  ASSERT_GT(rows.programs(), 100);
  EXPECT_GT(*RankAccuracy(*model->Predict(rows), truth), 0.65);
}

TEST_P(XgboostModelLoss, GoesOnLearningWhenUpdatedRoundByRound) {
  const Data all = Synthetic(512, 11);
  const Data unseen = Synthetic(500, 12);
  auto model = Make({.loss = {.kind = GetParam()}});
  FeatureBatch known{.dim = kDim};
  std::vector<double> accuracy;
  for (int p = 0; p < 512; ++p) {
    const size_t begin = static_cast<size_t>(all.programs.first_row[p]) * kDim;
    const size_t end = static_cast<size_t>(all.programs.first_row[p + 1]) * kDim;
    known.AppendRows(absl::MakeConstSpan(all.programs.values).subspan(begin, end - begin));
    if ((p + 1) % 64 != 0) continue;
    ASSERT_TRUE(model->Update(known, absl::MakeConstSpan(all.labels).subspan(0, p + 1)).ok());
    accuracy.push_back(*RankAccuracy(*model->Predict(unseen.programs), unseen.Throughputs()));
  }
  EXPECT_GT(accuracy.back(), accuracy.front());
  EXPECT_GT(accuracy.back(), 0.87);
}

INSTANTIATE_TEST_SUITE_P(Losses, XgboostModelLoss, testing::Values(Loss::kSquaredError, Loss::kPairwise),
                         [](const auto& info) {
                           return info.param == Loss::kPairwise ? "Pairwise" : "SquaredError";
                         });

TEST(XgboostModel, GivesTheScoresOfItsBaseUntilItLearns) {
  const auto base = std::make_shared<RandomModel>(7);
  const Data data = Synthetic(64, 3);
  const auto model = Make({.base = base});
  EXPECT_TRUE(model->Informed());
  EXPECT_FALSE(Make()->Informed());
  EXPECT_EQ(model->Predict(data.programs).value(), base->Predict(data.programs).value());
  ASSERT_EQ(model->Update(data.programs, data.labels), absl::OkStatus());
  EXPECT_EQ(model->Predict(data.programs).value(), Trained(data)->Predict(data.programs).value());
}

TEST(XgboostModel, ScoresTwoEqualRowsTwiceAsMuchAsOne) {
  const auto model = Trained(Synthetic(64, 1));
  const std::vector<float> row(kDim, 0.4f);
  std::vector<float> rows = row;
  rows.insert(rows.end(), row.begin(), row.end());
  FeatureBatch batch{.dim = kDim};
  batch.AppendRows(row);
  batch.AppendRows(rows);
  const std::vector<double> scores = *model->Predict(batch);
  EXPECT_NE(scores[0], 0);
  EXPECT_EQ(scores[1], 2 * scores[0]);
}

TEST(XgboostModel, ScoresAProgramAloneAsInABatch) {
  const Data data = Synthetic(100, 2);
  const auto model = Trained(data);
  const std::vector<double> together = *model->Predict(data.programs);
  FeatureBatch last{.dim = kDim};
  last.AppendRows(absl::MakeConstSpan(data.programs.values)
                      .subspan(static_cast<size_t>(data.programs.first_row[99]) * kDim));
  EXPECT_EQ(model->Predict(last)->front(), together.back());
}

TEST(XgboostModel, LearnsTheSameBitsInEachInstanceAndWithAnyNumberOfOpenMpThreads) {
  const Data data = Synthetic(200, 3);
  for (const Loss loss : {Loss::kSquaredError, Loss::kPairwise}) {
    ForceOpenMpThreads(1);
    const auto one = Trained(data, {.loss = {.kind = loss}});
    const std::vector<double> scores = *one->Predict(data.programs);
    for (const int threads : {2, 4}) {
      ForceOpenMpThreads(threads);
      const auto other = Trained(data, {.loss = {.kind = loss}});
      EXPECT_EQ(*other->Predict(data.programs), scores) << threads;
      EXPECT_EQ(*other->Save(), *one->Save()) << threads;
    }
  }
}

TEST(XgboostModel, LoadsWhatItSavedAndGoesOnAlike) {
  const Data first = Synthetic(100, 4);
  const Data more = Synthetic(150, 5);
  const auto model = Trained(first);
  const auto loaded = Make();
  ASSERT_EQ(loaded->Load(*model->Save()), absl::OkStatus());
  EXPECT_EQ(*loaded->Predict(more.programs), *model->Predict(more.programs));
  EXPECT_EQ(*loaded->Save(), *model->Save());

  ASSERT_EQ(model->Update(more.programs, more.labels), absl::OkStatus());
  ASSERT_EQ(loaded->Update(more.programs, more.labels), absl::OkStatus());
  EXPECT_EQ(*loaded->Predict(first.programs), *model->Predict(first.programs));
}

TEST(XgboostModel, SavesAndLoadsBeforeItLearns) {
  const auto model = Trained(Synthetic(20, 6));
  ASSERT_EQ(model->Load(*Make()->Save()), absl::OkStatus());
  EXPECT_EQ(model->Predict(Synthetic(1, 7).programs)->front(), 0);
}

std::string FirstLine(const CostModel& model) {
  const std::string bytes = *model.Save();
  return bytes.substr(0, bytes.find(" bytes="));
}

TEST(XgboostModel, AddsTreesUntilTheDataDoubledAndThenStartsAnew) {
  auto model = Make({.first_trees = 10, .more_trees = 2, .most_trees = 14});
  const auto trees_after = [&](int programs) {
    const Data data = Synthetic(programs, 8);
    EXPECT_EQ(model->Update(data.programs, data.labels), absl::OkStatus());
    const std::string line = FirstLine(*model);
    return line.substr(line.find("trees="));
  };
  EXPECT_EQ(trees_after(20), "trees=10 programs=20");
  EXPECT_EQ(trees_after(30), "trees=12 programs=20");
  EXPECT_EQ(trees_after(40), "trees=10 programs=40");
  EXPECT_EQ(trees_after(41), "trees=12 programs=40");
  EXPECT_EQ(trees_after(42), "trees=14 programs=40");
  EXPECT_EQ(trees_after(43), "trees=10 programs=43");  // 16 trees would be more than most_trees
}

TEST(XgboostModel, RefusesBytesThatAreNotItsOwn) {
  const auto model = Trained(Synthetic(64, 9));
  const std::string saved = *model->Save();
  const FeatureBatch probe = Synthetic(10, 10).programs;
  const std::vector<double> scores = *model->Predict(probe);

  const auto refuses = [&](const std::string& bytes, const std::string& why) {
    const absl::Status s = model->Load(bytes);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_NE(s.message().find(why), absl::string_view::npos) << s;
    EXPECT_EQ(*model->Predict(probe), scores) << "a refused load changed the model";
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = saved;
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  refuses("", "do not begin with 'kiln.xgboost'");
  refuses("garbage\n\1\2\3", "do not begin with 'kiln.xgboost'");
  refuses("kiln.xgboost", "version ''");
  refuses("kiln.xgboost v2", "features a row ''");
  refuses(with(" v2 ", " v1 "), "saved with version 'v1', this one has 'v2'");
  refuses(with("members=1", "members=3"), "saved with 3 members, this one has 1");
  refuses(with("dim=164", "dim=165"), "saved with features a row '165', this one has '164'");
  refuses(with("squared-error", "pairwise"), "saved with loss 'pairwise', this one has 'squared-error'");
  refuses(with("trees=60", "trees=xx"), "first line is damaged");
  refuses(with("trees=60", "trees=61"), "check sum does not match");
  refuses(saved.substr(0, saved.size() - 1), "bytes of trees, but");
  refuses(saved + "x", "bytes of trees, but");
  refuses(saved.substr(0, 40), "saved with loss 'squared-err'");
  std::string flipped = saved;
  flipped[flipped.size() / 2] ^= 1;
  refuses(flipped, "check sum does not match");
}

TEST(XgboostModel, RefusesFeaturesThatAreNotFiniteAndSaysWhere) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    FeatureBatch batch{.dim = 2};
    batch.AppendRows({1, 2});
    batch.AppendRows({3, 4, 5, bad});
    const auto model = Make({}, 2);
    const std::string expected = "feature 1 of program 1, row 1 is " +
                                 std::string(std::isnan(bad) ? "nan" : "inf") + "; features must be finite";
    EXPECT_EQ(model->Update(batch, {{}, {}}), absl::InvalidArgumentError(expected));
    EXPECT_EQ(model->Predict(batch).status(), absl::InvalidArgumentError(expected));
  }
}

TEST(XgboostModel, RefusesLabelsOutOfRangeOrNumber) {
  FeatureBatch batch{.dim = 1};
  batch.AppendRows({1});
  const auto model = Make({}, 1);
  const auto message = [&](std::vector<TrainingLabel> labels) {
    return std::string(model->Update(batch, labels).message());
  };
  EXPECT_EQ(message({}), "0 labels for 1 programs");
  EXPECT_EQ(message({{.throughput = 2}}),
            "program 0 has throughput 2; it must be relative to the best of its task, in [0, 1]");
  EXPECT_EQ(message({{.throughput = 1, .weight = -1}}),
            "program 0 has weight -1; it must be finite and at least 0");
  EXPECT_EQ(message({{.throughput = 1}}), "");
}

TEST(XgboostModel, RefusesProgramsOfAnotherNumberOfFeatures) {
  FeatureBatch batch{.dim = 3};
  batch.AppendRows({1, 2, 3});
  EXPECT_EQ(Make({}, 2)->Predict(batch).status().message(),
            "the programs have 3 features a row, the cost model has 2");
}

TEST(XgboostModel, RefusesOptionsOutOfTheirRange) {
  EXPECT_EQ(MakeXgboostModel(4, {.bins = 1}).status().message(),
            "XGBoost cost model: bins must be in 2 to 256");
  EXPECT_EQ(MakeXgboostModel(0).status().message(), "XGBoost cost model: dim must be at least 1");
}

TEST(XgboostModel, LearnsFromFailuresAlone) {
  Data data = Synthetic(20, 13);
  for (TrainingLabel& l : data.labels) l.throughput = 0;
  for (const Loss loss : {Loss::kSquaredError, Loss::kPairwise}) {
    const auto model = Trained(data, {.loss = {.kind = loss}});
    const std::vector<double> scores = *model->Predict(data.programs);
    for (const double score : scores) EXPECT_TRUE(std::isfinite(score));
  }
}

TEST(XgboostModel, ScoresFailedProgramsBelowTheOthers) {
  FeatureBatch batch{.dim = 1};
  std::vector<TrainingLabel> labels;
  for (int p = 0; p < 40; ++p) {
    batch.AppendRows({static_cast<float>(p)});
    labels.push_back({.throughput = p < 20 ? 0 : 0.5 + p * 0.01});
  }
  for (const Loss loss : {Loss::kSquaredError, Loss::kPairwise}) {
    auto model = Make({.loss = {.kind = loss}}, 1);
    ASSERT_EQ(model->Update(batch, labels), absl::OkStatus());
    const std::vector<double> scores = *model->Predict(batch);
    EXPECT_LT(*std::max_element(scores.begin(), scores.begin() + 20),
              *std::min_element(scores.begin() + 20, scores.end()));
  }
}

class SumLossKind : public testing::TestWithParam<Loss> {};

TEST_P(SumLossKind, HasTheDerivativesOfItsValue) {
  std::vector<TrainingLabel> labels;
  for (int p = 0; p < 12; ++p) {
    labels.push_back(
        {.throughput = (p % 5) / 4.0, .group = p % 2, .weight = 1.0 + p % 3, .upper_bound = p % 4 == 3});
  }
  const SumLoss loss({.kind = GetParam()}, labels);
  std::vector<double> sums(12);
  for (int p = 0; p < 12; ++p) sums[p] = std::sin(p * 1.7) * 2;
  std::vector<double> first, second, above, below, unused;
  loss.Derivatives(sums, &first, &second);
  constexpr double kStep = 1e-5;
  for (int p = 0; p < 12; ++p) {
    std::vector<double> moved = sums;
    moved[p] = sums[p] + kStep;
    const double value_above = loss.Value(moved);
    loss.Derivatives(moved, &above, &unused);
    moved[p] = sums[p] - kStep;
    const double value_below = loss.Value(moved);
    loss.Derivatives(moved, &below, &unused);
    EXPECT_NEAR(first[p], (value_above - value_below) / (2 * kStep), 1e-6) << p;
    EXPECT_NEAR(second[p], (above[p] - below[p]) / (2 * kStep), 1e-6) << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, SumLossKind, testing::Values(Loss::kSquaredError, Loss::kPairwise),
                         [](const auto& info) {
                           return info.param == Loss::kPairwise ? "Pairwise" : "SquaredError";
                         });

TEST(SumLoss, IgnoresPairsOfTwoTasksAndPairsWhoseOrderIsUnknown) {
  std::vector<double> first, second;
  SumLoss({.kind = Loss::kPairwise}, {{.throughput = 1, .group = 0}, {.throughput = 0.5, .group = 1}})
      .Derivatives({0.0, 0.0}, &first, &second);
  EXPECT_EQ(first, (std::vector<double>{0, 0}));
  SumLoss({.kind = Loss::kPairwise}, {{.throughput = 1, .upper_bound = true}, {.throughput = 0.5}})
      .Derivatives({0.0, 0.0}, &first, &second);
  EXPECT_EQ(first, (std::vector<double>{0, 0}));
  SumLoss({.kind = Loss::kPairwise}, {{.throughput = 1}, {.throughput = 0.5, .upper_bound = true}})
      .Derivatives({0.0, 0.0}, &first, &second);
  EXPECT_LT(first[0], 0);
  EXPECT_GT(first[1], 0);
}

TEST(SumLoss, PutsWhatFailedBelowWhatWasStoppedEarly) {
  std::vector<double> first, second;
  SumLoss({.kind = Loss::kPairwise}, {{.throughput = 0.5, .upper_bound = true}, {.throughput = 0}})
      .Derivatives({0.0, 0.0}, &first, &second);
  EXPECT_LT(first[0], 0);
  EXPECT_GT(first[1], 0);
}

TEST_P(SumLossKind, AsksNothingWhereTheBaseIsRightButForATask) {
  const std::vector<double> logs = {-1, -0.5, 0, -2, 0};
  std::vector<TrainingLabel> labels;
  std::vector<double> base;
  for (size_t p = 0; p < logs.size(); ++p) {
    labels.push_back({.throughput = std::exp(logs[p]), .group = p > 2});
    base.push_back(40 * logs[p] + (p > 2 ? 100 : 0));
    if (GetParam() == Loss::kSquaredError) base.back() -= 39 * logs[p];
  }
  std::vector<double> first, second;
  SumLoss({.kind = GetParam()}, labels, base).Derivatives(std::vector<double>(5, 0.0), &first, &second);
  for (const double f : first) EXPECT_NEAR(f, 0, 1e-6);
  SumLoss({.kind = GetParam()}, labels).Derivatives(std::vector<double>(5, 0.0), &first, &second);
  EXPECT_GT(std::abs(first[0]), 0.01);
}

TEST(SumLoss, AsksNothingOfAScoreBelowAnUpperBound) {
  std::vector<double> first, second;
  const SumLoss loss({}, {{.throughput = 1, .upper_bound = true}, {.throughput = 1, .upper_bound = true}});
  loss.Derivatives({-1.0, 1.0}, &first, &second);
  EXPECT_EQ(first, (std::vector<double>{0, 1}));
}

TEST(RandomModel, ScoresDependOnSeedAndFeaturesAlone) {
  const Data data = Synthetic(500, 14);
  RandomModel model(42);
  const std::vector<double> scores = *model.Predict(data.programs);
  EXPECT_EQ(*RandomModel(42).Predict(data.programs), scores);
  EXPECT_NE(*RandomModel(43).Predict(data.programs), scores);
  ASSERT_EQ(model.Update(data.programs, data.labels), absl::OkStatus());
  EXPECT_EQ(*model.Predict(data.programs), scores);

  FeatureBatch last{.dim = kDim};
  last.AppendRows(absl::MakeConstSpan(data.programs.values)
                      .subspan(static_cast<size_t>(data.programs.first_row[499]) * kDim));
  EXPECT_EQ(model.Predict(last)->front(), scores.back());

  for (const double s : scores) EXPECT_TRUE(s >= 0 && s < 1);
  EXPECT_NEAR(*RankAccuracy(scores, data.Throughputs()), 0.5, 0.06);
}

TEST(RandomModel, LoadsWhatItSavedAndRefusesTheRest) {
  RandomModel model(42);
  RandomModel other(1);
  ASSERT_EQ(other.Load(*model.Save()), absl::OkStatus());
  EXPECT_EQ(*other.Save(), "kiln.random v1 seed=42");
  EXPECT_EQ(other.Load("kiln.xgboost v1").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(other.Load("kiln.random v1 seed=x").code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
