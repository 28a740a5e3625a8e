#include "lang/analysis/axes.h"

#include "gmock/gmock.h"
#include "lang/analysis/dataflow.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

std::vector<ResultAxis> AxesOf(const Program& program) {
  return ResultAxes(program, ResolveBindings(program, Blocks(program)[0]));
}

TEST(Axes, LieInTheOrderOfTheDimensionsWithoutALayout) {
  const Program program = Matmul(8, 16, 4);
  const Id block = Blocks(program)[0];
  const std::vector<Id> around = LoopsAround(program, block);
  const std::vector<ResultAxis> axes = AxesOf(program);
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[0].dim, 0u);
  EXPECT_THAT(axes[0].loops, ElementsAre(around[0]));
  EXPECT_EQ(axes[1].dim, 1u);
  EXPECT_THAT(axes[1].contiguous, ElementsAre(around[1]));
  EXPECT_EQ(LastDimIter(program, block), 1);
}

TEST(Axes, FollowTheLayoutByTheLastPartOfEachDimension) {
  Schedule s = Scheduled(Matmul(8, 16, 4));
  const Block block = s.GetBlock("matmul");
  s.CacheWrite(block);
  s.TransformLayout(block, -1, "(i, j) -> (i/4, j, i%4)");
  ASSERT_TRUE(s.ok()) << s.status();
  const std::vector<ResultAxis> axes = ResultAxes(s.program(), ResolveBindings(s.program(), s.node(block)));
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[0].dim, 1u);
  EXPECT_EQ(axes[1].dim, 0u);
  EXPECT_THAT(axes[1].loops, ElementsAre(LoopsAround(s.program(), s.node(block))[0]));
}

}  // namespace
}  // namespace kiln
