#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "lang/base/random.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "testing/softmax.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

Program DotProducts(DType dtype, int64_t rows, int64_t n) {
  Builder b("dot");
  const Id A = b.Input("A", dtype, {rows, n}), B = b.Input("B", dtype, {n}), C = b.Output("C", dtype, {rows});
  b.Reduce("dot", {{"i", rows}, {"k", n, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {b.Iter(0)}},
           b.Mul(b.Load(A, {b.Iter(0), b.Iter(1)}), b.Load(B, {b.Iter(1)})));
  return b.Finish();
}

std::vector<float> RandomTerms(Engine& engine, int64_t n, bool positive) {
  std::vector<float> terms;
  const auto draw = [&] {
    return static_cast<float>(static_cast<double>(engine() >> 11) / 9007199254740992.0 * (positive ? 1 : 2) -
                              (positive ? 0 : 1));
  };
  for (int64_t i = 0; i < n; ++i) terms.push_back(draw() * draw());
  return terms;
}

TEST(Tolerance, LetsOrdersOfASumPassAndFindsAMissingTerm) {
  for (const int64_t n : {16, 1024, 4096}) {
    const OutputTolerance tolerance = ToleranceFor(DotProducts(DType::kF32, 8, n))[0];
    Engine engine({7, static_cast<uint64_t>(n)});
    int found = 0;
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<float> terms = RandomTerms(engine, n, trial % 2 == 0);
      float forward = 0, lanes[8] = {}, short_one = 0;
      for (int64_t i = 0; i < n; ++i) {
        forward += terms[i];
        lanes[i % 8] += terms[i];
        if (i != n / 2) short_one += terms[i];
      }
      float tree = 0;
      for (const float lane : lanes) tree += lane;
      const auto agrees = [&](double a) {
        return std::abs(a - forward) <= tolerance.absolute + tolerance.relative * std::abs(forward);
      };
      EXPECT_TRUE(agrees(tree)) << tree << " " << forward;
      found += !agrees(short_one);
    }
    EXPECT_GT(found, 150) << n;
  }
}

// The tolerance for a sum of 2^22 squares lets a sum in another order pass, and finds that a hundredth of the terms is
// missing. In floats, a term that is added to a sum of millions is rounded to the precision of this sum.
TEST(Tolerance, LetsOrdersOfVeryLongSumsPassAndFindsAHundredthOfTheirTerms) {
  const int64_t n = 1 << 22;
  Builder b("norm");
  const Id x = b.Input("x", DType::kF32, {n}), y = b.Output("y", DType::kF32, {});
  const Id square = b.Mul(b.Load(x, {b.Iter(0)}), b.Load(x, {b.Iter(0)}));
  b.Reduce("sum", {{"k", n, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {}}, square);
  const OutputTolerance tolerance = ToleranceFor(b.Finish())[0];
  Engine engine({7, 1});
  double exact = 0, lacking = 0;
  float forward = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<float>(static_cast<double>(engine() >> 11) / 9007199254740992.0);
    forward += v * v;
    exact += v * v;
    if (i % 100 != 0) lacking += v * v;
  }
  const double bound = tolerance.absolute + tolerance.relative * exact;
  EXPECT_LT(2 * std::abs(forward - exact), bound);
  EXPECT_GT(std::abs(lacking - exact), bound);
}

TEST(Tolerance, GrowsWithTheReductionAndTheDtype) {
  const auto of = [](DType dtype, int64_t n) { return ToleranceFor(DotProducts(dtype, 4, n))[0]; };
  EXPECT_EQ(of(DType::kF32, 64).longest_reduction, 64);
  EXPECT_NEAR(of(DType::kF32, 1024).absolute / of(DType::kF32, 64).absolute, 16, 2);
  EXPECT_NEAR(of(DType::kF16, 64).absolute / of(DType::kF32, 64).absolute, 8192, 1);
  EXPECT_LT(of(DType::kF64, 64).relative, 1e-13);
  EXPECT_EQ(of(DType::kI32, 64).absolute, 0);
}

TEST(Tolerance, IsCarriedThroughLaterBlocks) {
  Builder b("two");
  const Id A = b.Input("A", DType::kF32, {64, 64}), T = b.Temporary("T", DType::kF32, {64}),
           C = b.Output("C", DType::kF32, {1});
  b.Reduce("rows", {{"i", 64}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {T, {b.Iter(0)}},
           b.Load(A, {b.Iter(0), b.Iter(1)}));
  b.Reduce("all", {{"i", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {IndexSum::Constant(0)}},
           b.Load(T, {b.Iter(0)}));
  const OutputTolerance tolerance = ToleranceFor(b.Finish())[0];
  EXPECT_EQ(tolerance.buffer, C);
  EXPECT_EQ(tolerance.longest_reduction, 128);
  EXPECT_GT(tolerance.absolute, ToleranceFor(DotProducts(DType::kF32, 1, 64))[0].absolute);
}

TEST(StressSets, AreForProgramsThatReadAnExtremum) {
  EXPECT_EQ(StressSets(DotProducts(DType::kF32, 8, 64)), 0);
  EXPECT_EQ(StressSets(Softmax(64, 64)), 32);
  EXPECT_EQ(StressSets(Softmax(1024, 1024)), 2);
}

TEST(StressSets, AreNotForCastsToIntegers) {
  Builder b("steps");
  const Id x = b.Input("x", DType::kF32, {64}), m = b.Temporary("m", DType::kF32, {}),
           y = b.Output("y", DType::kI32, {64});
  const IndexSum i = Builder::Iter(0);
  b.Reduce("max", {{"k", 64, IterKind::kReduction}}, Monoid::Kind::kMax, {m, {}}, b.Load(x, {i}));
  b.Compute("steps", {{"i", 64}}, {y, {i}},
            b.Make(Op::kCast, DType::kI32, b.Make(Op::kSub, DType::kF32, b.Load(x, {i}), b.Load(m, {}))));
  EXPECT_EQ(StressSets(b.Finish()), 0);
}

TEST(ChooseElements, TakesCornersAndTileEdgesAndRandomElements) {
  const TiledMatmul m(Matmul(64, 128, 16), Target(), {{2, 8, 4}, {2, 4, 16}, {2, 8}}, false);
  const auto elements = ChooseElements(m.program(), 64, 1);
  ASSERT_EQ(elements.size(), 64u);
  for (const int64_t i : {0, 63}) {
    for (const int64_t j : {0, 127}) {
      EXPECT_NE(std::find(elements.begin(), elements.end(), Element{elements[0].buffer, {i, j}}),
                elements.end());
    }
  }
  const auto has = [&](size_t d, int64_t at) {
    return std::any_of(elements.begin(), elements.end(), [&](const Element& e) { return e.index[d] == at; });
  };
  EXPECT_TRUE(has(0, 3) && has(0, 4) && has(0, 32) && has(1, 15) && has(1, 16) && has(1, 64));
  EXPECT_EQ(ChooseElements(m.program(), 64, 1), elements);
  EXPECT_NE(ChooseElements(m.program(), 64, 2), elements);
}

TEST(ChooseElements, TakesEdgesOfEveryDimensionOfManyAndFarCorners) {
  Builder b("copy");
  const std::vector<Extent> shape = {8, 8, 8, 8, 8};
  const Id A = b.Input("A", DType::kF32, shape), B = b.Output("B", DType::kF32, shape);
  std::vector<IndexSum> at;
  for (int d = 0; d < 5; ++d) at.push_back(b.Iter(d));
  b.Compute("copy", {{"i", 8}, {"j", 8}, {"k", 8}, {"l", 8}, {"m", 8}}, {B, at}, b.Load(A, at));
  Schedule s = Scheduled(b.Finish());
  for (const Loop loop : s.GetLoops(s.GetBlock("copy"))) s.Split(loop, {4, 2});
  std::array<std::set<int64_t>, 5> seen;
  const auto elements = ChooseElements(s.program(), 64, 1);
  for (size_t n = 0; n < 48; ++n) {  // the others are random
    for (size_t d = 0; d < 5; ++d) seen[d].insert(elements[n].index[d]);
  }
  for (const auto& values : seen)
    EXPECT_TRUE(values.contains(0) && values.contains(1) && values.contains(2) && values.contains(6) &&
                values.contains(7));
}

TEST(ChooseElements, TakesAllOfASmallOutput) {
  EXPECT_EQ(ChooseElements(Matmul(3, 4, 5), 64, 1).size(), 12u);
}

}  // namespace
}  // namespace kiln
