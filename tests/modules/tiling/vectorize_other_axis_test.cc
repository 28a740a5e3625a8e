// Tests where the space of CPUs has the choice of another dimension to vectorize (vector-axis) although the last
// dimension of the result fills vectors. tests/modules/cases/tiling/vector_axis.txt has a sketch with this choice.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "testing/matmul.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

TEST(LanesAcross, AreNoChoiceWhereTheLastDimensionFillsVectors) {
  for (const Program& program : {Matmul(32, 16, 8), Matmul(7, 9, 8)}) {
    const std::string sketches = SketchesText("cpu", program);
    EXPECT_NE(sketches.find("write-reuse"), std::string::npos);
    EXPECT_EQ(sketches.find("vector-axis"), std::string::npos) << sketches;
  }
}

// Y[o, h, w] += X[c, step*h + r, step*w + s] * K[o, c, r, s], where `depthwise` reads X[o, ..] and K[o, r, s].
Program Convolution(int64_t step, bool depthwise) {
  Builder b("convolution");
  const Id X = b.Input("X", DType::kF32, {depthwise ? 16 : 3, 15 * step + 3, 15 * step + 3});
  const Id K = depthwise ? b.Input("K", DType::kF32, {16, 3, 3}) : b.Input("K", DType::kF32, {16, 3, 3, 3});
  const Id Y = b.Output("Y", DType::kF32, {16, 16, 16});
  const IndexSum o = b.Iter(0), h = b.Iter(1), w = b.Iter(2), r = b.Iter(3), s = b.Iter(4), c = b.Iter(5);
  std::vector<Builder::IterSpec> iters = {
      {"o", 16}, {"h", 16}, {"w", 16}, {"r", 3, IterKind::kReduction}, {"s", 3, IterKind::kReduction}};
  if (!depthwise) iters.push_back({"c", 3, IterKind::kReduction});
  const Id x = b.Load(X, {depthwise ? o : c, h * step + r, w * step + s});
  const Id k = depthwise ? b.Load(K, {o, r, s}) : b.Load(K, {o, c, r, s});
  b.Reduce("sum", iters, Monoid::Kind::kSum, {Y, {o, h, w}}, b.Mul(x, k));
  return b.Finish();
}

TEST(LanesAcross, AreAChoiceWhereTheLastDimensionLeavesGapsInAnOperand) {
  const auto offered = [](const Program& program) {
    return SketchesText("cpu", program).find("vector-axis") != std::string::npos;
  };
  EXPECT_TRUE(offered(Convolution(2, false)));
  EXPECT_FALSE(offered(Convolution(1, false)));
  EXPECT_FALSE(offered(Convolution(2, true))) << "lanes across channels would leave larger gaps";
}

}  // namespace
}  // namespace kiln
