// Tests the choice of records for the tasks of a whole model: each task takes the record of that library of the model
// in which the task ran fastest, where a later library must be more than 1% faster than the best one before. Choices
// are stored for each model and machine.
#include "api/internal/model/race_wholes.h"

#include <gmock/gmock.h>

#include "api/internal/store/chosen_records.h"
#include "search/database/memory_store.h"

namespace kiln::api {
namespace {

using ::testing::ElementsAre;

TEST(FastestInPlace, TakesForEachTaskTheWholeInWhichItTookLeast) {
  const std::vector<std::vector<double>> seconds = {
      {1.0, 2.0, 3.0, 0.0},
      {0.9, 2.1, 2.99, 0.0},  // 2.99 is less than 1% faster
      {0.8, 0.0, 3.0, 0.0},   // no time is known of a task that is not timed
  };
  EXPECT_THAT(FastestInPlace(seconds), ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(FastestInPlace({}), ElementsAre());
}

TEST(ChosenRecords, AreKeptForEachModelAndMachine) {
  const auto store = MakeMemoryStore();
  const RowId here = store->PutTarget("{}", "here").value(), there = store->PutTarget("{}", "there").value();
  ASSERT_TRUE(SaveChosen(*store, "abc", here, {{"task", {.record = 7, .fastest = 5}}}).ok());
  const ChosenRecords chosen = LoadChosen(*store, "abc", here);
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen.at("task").record, 7);
  EXPECT_EQ(chosen.at("task").fastest, 5);
  EXPECT_TRUE(LoadChosen(*store, "abc", there).empty());
  EXPECT_TRUE(LoadChosen(*store, "abd", here).empty());
  ASSERT_TRUE(store->SaveModel({.key = "whole abc", .target = here, .bytes = "no JSON", .note = ""}).ok());
  EXPECT_TRUE(LoadChosen(*store, "abc", here).empty());
}

}  // namespace
}  // namespace kiln::api
