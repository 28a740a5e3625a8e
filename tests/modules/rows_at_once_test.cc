// rows-at-once: a few rows of a result at a time, with places for what they are made of.
#include <gtest/gtest.h>

#include "tests/support/module_cases.h"
#include "tests/support/softmax.h"
#include "tests/support/tiled_matmul.h"

namespace kiln {
namespace {

TEST(RowsAtOnce, SplitsTheResultBeforeItsRowsArePlaced) {
  ExpectModule("rows_at_once", "each-block(rows-at-once most=2) | random-compute-location", Softmax(4, 16));
}

TEST(RowsAtOnce, ComputesRowsThatNothingDivides) {
  ExpectSketchesCompute(
      "each-block(rows-at-once) | random-compute-location | vectorize-rows lanes=16 | "
      "parallelize-vectorize-unroll",
      Softmax(6, 37));
}

TEST(RowsAtOnce, LeavesAloneWhatIsNotMadeOfRows) {
  EXPECT_EQ(SketchesText("each-block(rows-at-once)", Matmul(4, 8, 4)).find("split"), std::string::npos);
}

}  // namespace
}  // namespace kiln
