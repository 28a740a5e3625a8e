#include "search/run/global_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/cost/rank.h"
#include "search/database/memory_store.h"
#include "search/run/tune.h"
#include "tests/search/drawn_programs.h"

namespace kiln {
namespace {

TEST(GlobalModel, LearnsFromAllTasksOfAStore) {
  const auto store = MakeMemoryStore();
  EXPECT_EQ(TrainGlobalModel(*store->ReadAll(), FeatureKind::kAnsor).status().code(),
            absl::StatusCode::kFailedPrecondition);
  SimulatedMachine machine(Target(), {.crashes = 0.1});
  TuneOptions options;
  options.trials = 120;
  options.strategy = "random";
  const std::vector<TuneTask> tasks = {{"cube", Matmul(128, 128, 128), 0}, {"flat", Matmul(64, 256, 64), 0}};
  ASSERT_TRUE(Tune(tasks, TilingSpace, Target(), options, machine, *store).ok());

  for (const FeatureKind kind : {FeatureKind::kAnsor, FeatureKind::kContextRelation}) {
    const auto global = TrainGlobalModel(*store->ReadAll(), kind);
    ASSERT_TRUE(global.ok()) << global.status();
    EXPECT_EQ(global->tasks, 2);
    EXPECT_EQ(global->records, 120);  // includes crashed candidates; races measure no new programs
    EXPECT_EQ(global->left_out, 0);
    const DrawnPrograms other = DrawPrograms(Matmul(96, 192, 128), 200, kind, 4);
    EXPECT_GT(*RankAccuracy(*global->model->Predict(other.features), other.Truth()), 0.7);
  }
}

TEST(GlobalModel, LeavesOutStaticRecords) {
  const auto store = MakeMemoryStore();
  SimulatedMachine machine{Target()};
  TuneOptions options;
  options.trials = 16;
  options.finalists = 0;
  ASSERT_TRUE(
      Tune({{"cube", Matmul(128, 128, 128), 0}}, TilingSpace, Target(), options, machine, *store).ok());
  StoreContents contents = *store->ReadAll();
  for (size_t i = 0; i < 10; ++i) contents.records[i].flags.is_static = true;
  const auto global = TrainGlobalModel(contents, FeatureKind::kAnsor);
  ASSERT_TRUE(global.ok()) << global.status();
  EXPECT_EQ(global->records, 6);
}

TEST(GlobalModel, CountsWhatCannotBeReplayed) {
  const auto store = MakeMemoryStore();
  SimulatedMachine machine{Target()};
  TuneOptions options;
  options.trials = 16;
  options.finalists = 0;
  ASSERT_TRUE(
      Tune({{"cube", Matmul(128, 128, 128), 0}}, TilingSpace, Target(), options, machine, *store).ok());
  StoreContents contents = *store->ReadAll();
  contents.records[3].trace = "kiln.trace v1\nnonsense";
  const auto global = TrainGlobalModel(contents, FeatureKind::kAnsor);
  ASSERT_TRUE(global.ok()) << global.status();
  EXPECT_EQ(global->records, 15);
  EXPECT_EQ(global->left_out, 1);
}

}  // namespace
}  // namespace kiln
