#include "lang/analysis/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/builder.h"
#include "lang/schedule.h"

namespace kiln {
namespace {

TEST(ComputeAt, RefusesToMakeInitialValuesBelowTheReduction) {
  // B[i] = x[i] + 1;  y[i] = B[i] + Σ_k A[i, k]
  Builder b("sums");
  const Id a = b.Input("A", DType::kF32, {8, 4}), x = b.Input("x", DType::kF32, {8}),
           y = b.Output("y", DType::kF32, {8});
  const Id start = b.Temporary("B", DType::kF32, {8});
  const Sum i = Builder::Iter(0), k = Builder::Iter(1);
  const Id add = b.Compute("add", {{"i", 8}}, {start, {i}}, b.Add(b.Load(x, {i}), b.Float(DType::kF32, 1)));
  const Id sum = b.Reduce("sum", {{"i", 8}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
                          b.Load(a, {i, k}), b.Load(start, {i}));
  const Program p = b.Finish();
  const Id k_loop = p.nodes[sum].parent, i_loop = p.nodes[k_loop].parent;
  EXPECT_TRUE(CheckComputeAt(p, add, i_loop).ok());
  EXPECT_EQ(CheckComputeAt(p, add, k_loop).message(), "block \"sum\" starts from it, before loop k");
}

TEST(CacheRead, RefusesToCopyWhatIsNotMadeYetBelowALoop) {
  // T[i] = A[i];  C[i] = Σ_r T[i + r], r < 3 in tiles of 4: one iteration of i makes 3 elements, a tile spans
  // 4
  Builder b("window");
  const Id a = b.Input("A", DType::kF32, {10}), c = b.Output("C", DType::kF32, {8}),
           made = b.Temporary("T", DType::kF32, {10});
  const Sum i = Builder::Iter(0), r = Builder::Iter(1);
  b.Compute("make", {{"i", 10}}, {made, {i}}, b.Load(a, {i}));
  b.Reduce("sum", {{"i", 8}, {"r", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i}},
           b.Load(made, {i + r}));
  RandomDice dice(Engine({1}));
  RandomChooser chooser(dice);
  Schedule s(b.Finish(), Target(), chooser);
  const Block sum = s.GetBlock("sum");
  const std::vector<Loop> loops = s.GetLoops(sum);
  s.ComputeAt(s.GetBlock("make"), loops[0]);
  s.Split(loops[1], {1, 4});
  ASSERT_TRUE(s.ok()) << s.status();
  s.CacheRead(sum, 0);
  EXPECT_THAT(s.status().message(),
              testing::HasSubstr("block \"sum\" reads with gaps what is written in loop i"));
}

TEST(ReverseComputeAt, RefusesToLoseThePaddingAroundWhatIsMade) {
  // B[i] = A[i] + 1;  C[i] = i < 8 ? B[i] : 0 for i < 10
  Builder b("pad");
  const Id a = b.Input("A", DType::kF32, {8}), c = b.Output("C", DType::kF32, {10}),
           made = b.Temporary("B", DType::kF32, {8});
  const Sum i = Builder::Iter(0);
  const Id add = b.Compute("add", {{"i", 8}}, {made, {i}}, b.Add(b.Load(a, {i}), b.Float(DType::kF32, 1)));
  const Id pad =
      b.Compute("pad", {{"i", 10}}, {c, {i}}, b.Within({{i, 8}}, b.Load(made, {i}), b.Float(DType::kF32, 0)));
  const Program p = b.Finish();
  EXPECT_EQ(CheckReverseComputeAt(p, pad, p.nodes[add].parent).message(),
            "its iter i also runs where block \"add\" writes nothing");
}

}  // namespace
}  // namespace kiln
