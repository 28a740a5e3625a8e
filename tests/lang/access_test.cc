#include "lang/analysis/access.h"

#include "gmock/gmock.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// The program y[o, h] sum= x[c, 2 h + k] * w[o, c, k], a convolution with stride 2, and its buffers.
struct Conv {
  Id x, y, w;
  Program program;
};
Conv StridedConv() {
  Builder b("conv");
  const Id x = b.Input("x", DType::kF32, {4, 19}), w = b.Input("w", DType::kF32, {6, 4, 3}),
           y = b.Output("y", DType::kF32, {6, 9});
  const IndexSum o = Builder::Iter(0), h = Builder::Iter(1), c = Builder::Iter(2), k = Builder::Iter(3);
  b.Reduce("conv", {{"o", 6}, {"h", 9}, {"c", 4, IterKind::kReduction}, {"k", 3, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {o, h}}, b.Mul(b.Load(x, {c, h * 2 + k}), b.Load(w, {o, c, k})));
  return {x, y, w, b.Finish()};
}

TEST(Access, OfAWindowStepsAlongChannelsAlone) {
  const Conv conv = StridedConv();
  const Id block = Blocks(conv.program)[0];
  const AccessPattern x = AccessOf(conv.program, block, conv.x), w = AccessOf(conv.program, block, conv.w);
  EXPECT_THAT(x.steps, ElementsAre(2, -1));
  EXPECT_THAT(x.loops, ElementsAre(ElementsAre(2), ElementsAre(1, 3)));
  EXPECT_THAT(w.steps, ElementsAre(0, 2, 3));
  EXPECT_THAT(w.loops, ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(3)));
  EXPECT_TRUE(x.DependsOn(3));
  EXPECT_FALSE(x.DependsOn(0));
  EXPECT_EQ(LastWindow(conv.program, block), 3);
  EXPECT_TRUE(IsReusedWhole(conv.program, block, x));  // each o reads all of x
  EXPECT_TRUE(IsReusedWhole(conv.program, block, w));  // each h reads all of w
}

TEST(Access, GivesTheIndicesOfTheResultAndOfEachRead) {
  const Conv conv = StridedConv();
  const Id block = Blocks(conv.program)[0];
  const IndexSum o = Builder::Iter(0), h = Builder::Iter(1), c = Builder::Iter(2), k = Builder::Iter(3);
  EXPECT_THAT(ResultIndices(conv.program, block), ElementsAre(o, h));
  const std::vector<Indices> reads = ReadIndices(conv.program, block);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_THAT(reads[1], ElementsAre(o, c, k));
  const Bindings bindings = ResolveBindings(conv.program, block);
  const std::vector<Id> around = LoopsAround(conv.program, block);
  EXPECT_THAT(LoopsAlong(bindings, reads[0][1]), ElementsAre(around[1], around[3]));
  EXPECT_THAT(ReadSteps(conv.program, block, around[1]),
              ElementsAre(ElementsAre(0, 2), ElementsAre(0, 0, 0)));
}

TEST(Access, OfAProductIsAtItersAndHasNoWindow) {
  const Program program = Matmul(8, 16, 4);
  EXPECT_TRUE(ReadsAtIters(program, Blocks(program)[0], false));
  EXPECT_EQ(LastWindow(program, Blocks(program)[0]), -1);
}

TEST(Access, AtAnOffsetIsAtItersOnlyWhereOffsetsAre) {
  Builder b("shift");
  const Id x = b.Input("x", DType::kF32, {9}), y = b.Output("y", DType::kF32, {8});
  b.Compute("shift", {{"i", 8}}, {y, {Builder::Iter(0)}},
            b.Load(x, {Builder::Iter(0) + IndexSum::Constant(1)}));
  const Program program = b.Finish();
  EXPECT_TRUE(ReadsAtIters(program, Blocks(program)[0], true));
  EXPECT_FALSE(ReadsAtIters(program, Blocks(program)[0], false));
  const Conv conv = StridedConv();
  EXPECT_FALSE(ReadsAtIters(conv.program, Blocks(conv.program)[0], true));
}

// AccessOf says that the access x[g * 4 + c] to channels c of groups g steps along c alone: its index grows by one
// along c, and g steps over all of c.
TEST(Access, OfGroupsStepsAlongTheirChannels) {
  Builder b("groups");
  const Id x = b.Input("x", DType::kF32, {12}), y = b.Output("y", DType::kF32, {3, 4});
  const IndexSum g = Builder::Iter(0), c = Builder::Iter(1);
  b.Compute("groups", {{"g", 3}, {"c", 4}}, {y, {g, c}}, b.Load(x, {g * 4 + c}));
  const Program program = b.Finish();
  EXPECT_THAT(AccessOf(program, Blocks(program)[0], x).steps, ElementsAre(1));
}

}  // namespace
}  // namespace kiln
