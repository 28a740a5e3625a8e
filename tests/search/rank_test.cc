#include "search/cost/rank.h"

#include <gtest/gtest.h>

#include <vector>

namespace kiln {
namespace {

TEST(RankAccuracy, CountsPairsInTheRightOrder) {
  EXPECT_EQ(RankAccuracy({1, 2, 3}, {10, 20, 30}), 1.0);
  EXPECT_EQ(RankAccuracy({3, 2, 1}, {10, 20, 30}), 0.0);
  EXPECT_EQ(RankAccuracy({1, 3, 2}, {10, 20, 30}), 2.0 / 3);
}

TEST(RankAccuracy, LeavesOutPairsOfEqualTruth) {
  EXPECT_EQ(RankAccuracy({1, 9, 3}, {10, 10, 30}), 0.5);
  EXPECT_EQ(RankAccuracy({1, 2}, {10, 10}), std::nullopt);
  EXPECT_EQ(RankAccuracy({1}, {10}), std::nullopt);
  EXPECT_EQ(RankAccuracy({}, {}), std::nullopt);
}

TEST(RankAccuracy, GivesEqualScoresOneHalf) {
  EXPECT_EQ(RankAccuracy({5, 5, 5, 5}, {1, 2, 3, 4}), 0.5);
  EXPECT_EQ(RankAccuracy({1, 1, 2}, {10, 20, 30}), 2.5 / 3);
}

TEST(RecallAtK, IsThePartOfTheChosenThatIsAmongTheBest) {
  EXPECT_EQ(RecallAtK({4, 3, 2, 1}, {40, 30, 20, 10}, 2), 1.0);
  EXPECT_EQ(RecallAtK({4, 1, 2, 3}, {40, 30, 20, 10}, 2), 0.5);
  EXPECT_EQ(RecallAtK({1, 2, 3, 4}, {40, 30, 20, 10}, 2), 0.0);
  EXPECT_EQ(RecallAtK({1, 2, 3, 4}, {40, 30, 20, 10}, 4), 1.0);
}

TEST(RecallAtK, CountsEverythingAsGoodAsTheKthAsBest) {
  EXPECT_EQ(RecallAtK({1, 2, 9}, {40, 30, 30}, 1), 0.0);
  EXPECT_EQ(RecallAtK({9, 1, 8}, {40, 30, 30}, 2), 1.0);
}

TEST(RecallAtK, IsTheMeanOverTheWaysToBreakTies) {
  EXPECT_EQ(RecallAtK({5, 5, 5, 5}, {1, 2, 3, 4}, 1), 0.25);
  EXPECT_EQ(RecallAtK({5, 5, 5, 5}, {4, 3, 2, 1}, 2), 0.5);
  EXPECT_EQ(RecallAtK({9, 5, 5}, {3, 2, 1}, 2), 0.75);
}

TEST(RecallAtK, IsUndefinedForFewerThanKPrograms) { EXPECT_EQ(RecallAtK({1, 2}, {1, 2}, 3), std::nullopt); }

}  // namespace
}  // namespace kiln
