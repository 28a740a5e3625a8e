// rows-at-once: a few rows of a result at a time, with places for what they are made of.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/support/expect_module.h"

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

TEST(RowsAtOnce, LeavesAloneWhatIsNotMadeOfRowsOrHasNoLoop) {
  EXPECT_EQ(SketchesText("each-block(rows-at-once)", Matmul(4, 8, 4)).find("split"), std::string::npos);
  Builder b("last");
  const Id x = b.Input("x", DType::kF32, {4, 16}), t = b.Temporary("t", DType::kF32, {4}),
           y = b.Output("y", DType::kF32, {});
  b.Reduce("sum", {{"i", 4}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {b.Iter(0)}},
           b.Load(x, {b.Iter(0), b.Iter(1)}));
  b.Compute("take", {}, {y, {}}, b.Load(t, {Sum::Constant(3)}));
  EXPECT_EQ(SketchesText("each-block(rows-at-once)", b.Finish()).find("split"), std::string::npos);
}

}  // namespace
}  // namespace kiln
