#include "search/cost/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "search/cost/rank.h"
#include "tests/search/drawn_programs.h"
#include "tests/support/page.h"

namespace kiln {
namespace {

using testing::Each;
using testing::HasSubstr;

class EachModel : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const std::string name_ = std::get<0>(GetParam());
  const FeatureKind features_ = *FeatureKindOf(std::get<1>(GetParam()));
};

TEST_P(EachModel, OrdersWhatItHasNotSeenOrSaysWhyItCannotBe) {
  const auto model = MakeCostModel(name_, {.features = features_});
  if (features_ != FeatureKind::kAnsor && (name_ == "roofline" || name_ == "trees-residual")) {
    EXPECT_THAT(std::string(model.status().message()),
                HasSubstr("reads the features 'ansor' or 'gpu', not '"));
    return;
  }
  ASSERT_TRUE(model.ok()) << model.status();
  const Program program = Matmul(128, 128, 128);
  const DrawnPrograms known = DrawPrograms(program, 128, features_, 1),
                      unseen = DrawPrograms(program, 200, features_, 2);
  ASSERT_EQ((*model)->Update(known.features, known.labels), absl::OkStatus());
  const std::vector<double> scores = *(*model)->Predict(unseen.features);
  const double accuracy = *RankAccuracy(scores, unseen.Truth());
  if (name_ == "random") {
    EXPECT_NEAR(accuracy, 0.5, 0.1);
  } else {
    EXPECT_GT(accuracy, name_ == "roofline" ? 0.6 : 0.75);
  }

  const auto again = MakeCostModel(name_, {.features = features_, .seed = 5}).value();
  ASSERT_EQ(again->Load(*(*model)->Save()), absl::OkStatus());
  EXPECT_EQ(*again->Predict(unseen.features), scores);
  EXPECT_EQ(*again->Disagreement(unseen.features), *(*model)->Disagreement(unseen.features));
  EXPECT_EQ(again->Load("nonsense").code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(ByName, EachModel,
                         testing::Combine(testing::ValuesIn(CostModelNames()),
                                          testing::Values("ansor", "context-relation", "configuration")),
                         [](const auto& info) {
                           return absl::StrReplaceAll(std::get<0>(info.param) + "_" + std::get<1>(info.param),
                                                      {{"-", "_"}});
                         });

TEST(Models, TheReferenceListsThem) {
  std::vector<std::string> rows;
  for (const std::string& name : CostModelNames())
    rows.push_back(absl::StrCat("| `", name, "` | ", CostModelDoc(name), " |"));
  ExpectTable("docs/reference/cli.md", "| cost model | scores |", rows);
}

TEST(Models, AreMadeByTheirNamesAlone) {
  EXPECT_THAT(std::string(MakeCostModel("forest").status().message()),
              HasSubstr("unknown cost model \"forest\"; known: trees, trees-alone, "));
}

TEST(Models, AnEnsembleDisagreesMostOfWhatIsUnlikeAllThatItHasSeen) {
  FeatureBatch known{.dim = FeatureDim(FeatureKind::kConfiguration)}, near = known, far = known;
  std::vector<TrainingLabel> labels;
  const auto row = [&](float x, float y) {
    std::vector<float> row(known.dim, 0.0f);
    row[0] = x, row[1] = y;
    return row;
  };
  for (int p = 0; p < 64; ++p) {
    const float x = static_cast<float>(p % 8), y = static_cast<float>(p / 8 % 2);
    known.AppendRows(row(x, y));
    near.AppendRows(row(x, y));
    labels.push_back({.throughput = p == 63 ? 1 : 0.1 + 0.05 * x});  // an outlier that few members draw
  }
  const auto ensemble = MakeCostModel("ensemble", {.features = FeatureKind::kConfiguration}).value();
  EXPECT_THAT(*ensemble->Disagreement(near), Each(0));
  ASSERT_EQ(ensemble->Update(known, labels), absl::OkStatus());
  const std::vector<double> spread = *ensemble->Disagreement(near);
  EXPECT_GT(*std::max_element(spread.begin(), spread.end()), 0.05);
  EXPECT_EQ(spread[63], *std::max_element(spread.begin(), spread.end()));

  const auto trees = MakeCostModel("trees", {.features = FeatureKind::kConfiguration}).value();
  ASSERT_EQ(trees->Update(known, labels), absl::OkStatus());
  EXPECT_THAT(*trees->Disagreement(near), Each(0));
}

class Transfer : public testing::TestWithParam<FeatureKind> {};

TEST_P(Transfer, AGlobalModelOrdersAnotherTaskBeforeAnythingIsMeasured) {
  DrawnPrograms known;
  known.Append(DrawPrograms(Matmul(128, 128, 128), 200, GetParam(), 1), 0);
  known.Append(DrawPrograms(Matmul(64, 256, 64), 200, GetParam(), 2), 1);
  const auto global = MakeGlobalModel(GetParam()).value();
  ASSERT_EQ(global->Update(known.features, known.labels), absl::OkStatus());
  const auto loaded = LoadGlobalModel(GetParam(), *global->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();

  const DrawnPrograms first = DrawPrograms(Matmul(96, 192, 128), 16, GetParam(), 3),
                      unseen = DrawPrograms(Matmul(96, 192, 128), 200, GetParam(), 4);
  for (const std::string name : {"trees", "trees-rank", "ensemble"}) {
    const auto model = MakeCostModel(name, {.features = GetParam(), .global = *loaded}).value();
    EXPECT_TRUE(model->Informed());
    EXPECT_GT(*RankAccuracy(*model->Predict(unseen.features), unseen.Truth()), 0.75) << name;
    ASSERT_EQ(model->Update(first.features, first.labels), absl::OkStatus());
    const auto alone = MakeCostModel(name, {.features = GetParam()}).value();
    ASSERT_EQ(alone->Update(first.features, first.labels), absl::OkStatus());
    EXPECT_GT(*RankAccuracy(*model->Predict(unseen.features), unseen.Truth()),
              *RankAccuracy(*alone->Predict(unseen.features), unseen.Truth()))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Features, Transfer,
                         testing::Values(FeatureKind::kAnsor, FeatureKind::kContextRelation),
                         [](const auto& info) { return info.index == 0 ? "Ansor" : "ContextRelation"; });

TEST(Models, RefuseGlobalModelsOfOtherFeatures) {
  const std::string saved = *MakeGlobalModel(FeatureKind::kConfiguration).value()->Save();
  EXPECT_THAT(std::string(LoadGlobalModel(FeatureKind::kAnsor, saved).status().message()),
              HasSubstr("saved with features a row '256'"));
  const auto global = LoadGlobalModel(FeatureKind::kConfiguration, saved).value();
  EXPECT_EQ(MakeCostModel("random", {.global = global}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
