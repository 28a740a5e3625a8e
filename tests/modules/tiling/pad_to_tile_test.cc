// pad-to-tile: extents that divide badly.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

TEST(PadToTile, PadsLanesAndLongReductions) {
  ExpectModule("pad_to_tile", "each-block(pad-to-tile)", Matmul(5, 30, 67));
}

TEST(PadToTile, LeavesWhatTilesFill) {
  ExpectModule("pad_to_tile_declined", "each-block(pad-to-tile)", Matmul(5, 32, 9));
}

TEST(PadToTile, PadsNoMoreThanItsOptionSays) {
  const std::string text = SketchesText("each-block(pad-to-tile waste-percent=5)", Matmul(5, 30, 66));
  EXPECT_EQ(text.find("pad-einsum"), std::string::npos) << text;
}

TEST(PadToTile, PadsToSingleVectorsWherePairsWasteTooMuch) {
  const std::string text = SketchesText("each-block(pad-to-tile)", Matmul(5, 39, 64));
  EXPECT_NE(text.find("multiples=[1 8 1]"), std::string::npos) << text;
}

TEST(PadToTile, TilesWhatItPadded) {
  ExpectSketchesCompute(
      "each-block(pad-to-tile | multi-level-tiling) | random-compute-location | parallelize-vectorize-unroll",
      Matmul(5, 30, 67), Target(), 2);
}

}  // namespace
}  // namespace kiln
