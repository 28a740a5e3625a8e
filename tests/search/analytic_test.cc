#include "search/cost/analytic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/features/features.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

constexpr int64_t kSize = 512;

double Score(const Program& program) {
  return AnalyticScore(FeatureExtractor(Target()).Extract(program).values);
}

double Tiled(const TileFactors& tiles, bool pack = false) {
  return Score(TiledMatmul(Matmul(kSize, kSize, kSize), Target(), tiles, pack).program());
}

const TileFactors kGood{{8, 16, 4}, {2, 16, 16}, {2, 256}}, kPanels{{8, 16, 4}, {32, 1, 16}, {2, 256}};

TEST(Analytic, LikesRegisterTilesMoreThanNone) {
  EXPECT_GT(Tiled(kGood), Score(Matmul(kSize, kSize, kSize)) + 1);
}

TEST(Analytic, WantsEnoughAccumulatorsToHideTheLatency) {
  EXPECT_GT(Tiled(kGood), Tiled({{8, 64, 1}, {2, 32, 8}, {2, 256}}) + 0.5);
}

TEST(Analytic, KnowsThatTooManyAccumulatorsSpill) {
  EXPECT_GT(Tiled(kPanels, true), Tiled({{8, 4, 16}, {16, 1, 32}, {2, 256}}, true) + 0.2);
}

TEST(Analytic, CountsBytesThatComeFromBeyondTheCaches) {
  EXPECT_GT(Tiled(kPanels, true), Tiled({{128, 1, 4}, {32, 1, 16}, {1, 512}}, true));
}

TEST(Analytic, KnowsThatRowsAPowerOfTwoApartMeetInACache) {
  const auto unpacked = [](int64_t columns) {  // a panel of B has 256 rows of 64 bytes
    return Score(TiledMatmul(Matmul(512, columns, 512), Target(),
                             {{8, 16, 4}, {columns / 256, 16, 16}, {2, 256}}, false)
                     .program()) +
           std::log(static_cast<double>(columns));
  };
  EXPECT_GT(unpacked(1024 + 256 * 3), unpacked(2048) + 0.1);
}

TEST(Analytic, ScoresTheLogarithmOfThroughput) {
  const double once = Score(Matmul(16, 16, 16)),
               eightTimes = Score(Matmul(16, 16, 128));  // all data fit a cache
  EXPECT_NEAR(once - eightTimes, std::log(8), 0.1);
}

}  // namespace
}  // namespace kiln
