// vectorize-rows: partial results of rows in lanes, wherever the rows are computed.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

Program Norm(int64_t rows, int64_t columns) {
  Builder b("norm");
  const Id x = b.Input("x", DType::kF32, {rows, columns}), y = b.Output("y", DType::kF32, {});
  const Id square = b.Load(x, {Builder::Iter(0), Builder::Iter(1)});
  b.Reduce("sum", {{"i", rows, IterKind::kReduction}, {"k", columns, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {}}, b.Mul(square, square));
  return b.Finish();
}

TEST(VectorizeRows, HasOneSiteForAllRows) {
  ExpectModule("vectorize_rows", "random-compute-location | vectorize-rows lanes=0,8,16", Softmax(3, 48));
}

TEST(VectorizeRows, ComputesRowsThatVectorsDoNotDivide) {
  ExpectSketchesCompute("random-compute-location | vectorize-rows lanes=16 | parallelize-vectorize-unroll",
                        Softmax(3, 37));
}

TEST(VectorizeRows, ComputesReductionsOfAll) {
  ExpectModule("vectorize_rows_norm", "vectorize-rows lanes=16", Norm(4, 48));
}

TEST(VectorizeRows, LeavesProgramsWithoutRowsAlone) {
  EXPECT_EQ(SketchesText("vectorize-rows", Matmul(4, 8, 4)).find("rfactor-rows"), std::string::npos);
}

}  // namespace
}  // namespace kiln
