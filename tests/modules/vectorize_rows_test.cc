// vectorize-rows: partial results of rows in lanes, wherever the rows are computed.
#include <gtest/gtest.h>

#include "tests/support/module_cases.h"
#include "tests/support/tiled_matmul.h"

namespace kiln {
namespace {

// m = max of a row; e = exp(x - m); s = sum of e; y = e / s.
Program Softmax(int64_t rows, int64_t columns) {
  Builder b("softmax");
  const Id x = b.Input("x", DType::kF32, {rows, columns}), y = b.Output("y", DType::kF32, {rows, columns});
  const Id m = b.Temporary("m", DType::kF32, {rows}), s = b.Temporary("s", DType::kF32, {rows}),
           e = b.Temporary("e", DType::kF32, {rows, columns});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1);
  const std::vector<Builder::IterSpec> row{{"i", rows}, {"k", columns, IterKind::kReduction}},
      all{{"i", rows}, {"j", columns}};
  b.Reduce("max", row, Monoid::Kind::kMax, {m, {i}}, b.Load(x, {i, j}));
  b.Compute("exp", all, {e, {i, j}},
            b.Make(Op::kExp, DType::kF32, b.Make(Op::kSub, DType::kF32, b.Load(x, {i, j}), b.Load(m, {i}))));
  b.Reduce("sum", row, Monoid::Kind::kSum, {s, {i}}, b.Load(e, {i, j}));
  b.Compute("div", all, {y, {i, j}}, b.Make(Op::kDiv, DType::kF32, b.Load(e, {i, j}), b.Load(s, {i})));
  return b.Finish();
}

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
