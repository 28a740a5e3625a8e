#include "lang/text/hash.h"

#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

struct Names {
  std::string program = "matmul", a = "A", loop = "i", block = "matmul";
};

Program Matmul(int64_t m = 64, const Names& names = {}, DType type = DType::kF32, bool swapped = false) {
  Builder b(names.program);
  const Id A = b.Input(names.a, type, {m, 64}), B = b.Input("B", type, {64, 64}),
           C = b.Output("C", type, {m, 64});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  const Id x = b.Load(A, {i, k}), y = b.Load(B, {k, j});
  b.Reduce(names.block, {{names.loop, m}, {"j", 64}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {i, j}}, swapped ? b.Mul(y, x) : b.Mul(x, y));
  return b.Finish();
}

void ExpectDifferent(const Program& a, const Program& b) {
  EXPECT_FALSE(Equal(a, b));
  EXPECT_FALSE(HashOf(a) == HashOf(b));
}

TEST(Hash, IsOfTheMeaningAlone) {
  EXPECT_TRUE(Equal(Matmul(), Matmul(64, {"x", "y", "z", "w"})));
  EXPECT_EQ(HashOf(Matmul()), HashOf(Matmul(64, {"x", "y", "z", "w"})));
}

TEST(Hash, IsTheSameOnEveryMachine) {
  EXPECT_EQ(ToString(HashOf(Matmul())), "61a311e64f83f9712c2b8c577d2bf94d");
}

TEST(Hash, DependsOnExtentsDTypesAndBodies) {
  ExpectDifferent(Matmul(), Matmul(65));
  ExpectDifferent(Matmul(), Matmul(64, {}, DType::kF64));
  ExpectDifferent(Matmul(), Matmul(64, {}, DType::kF32, true));
}

TEST(Hash, DependsOnLoops) {
  Schedule split = Scheduled(Matmul()), parallel = Scheduled(Matmul());
  split.Split(split.GetLoops(split.GetBlock("matmul"))[0], {8, 8});
  parallel.Parallel(parallel.GetLoops(parallel.GetBlock("matmul"))[0]);
  ExpectDifferent(Matmul(), split.program());
  ExpectDifferent(Matmul(), parallel.program());
}

TEST(Hash, DoesNotDependOnTheWayThere) {
  Schedule at_once = Scheduled(Matmul()), in_steps = Scheduled(Matmul());
  at_once.Split(at_once.GetLoops(at_once.GetBlock("matmul"))[0], {4, 4, 4});
  const auto parts = in_steps.Split(in_steps.GetLoops(in_steps.GetBlock("matmul"))[0], {4, 16});
  in_steps.Split(parts[1], {4, 4});
  EXPECT_TRUE(Equal(at_once.program(), in_steps.program()));
  EXPECT_EQ(HashOf(at_once.program()), HashOf(in_steps.program()));
}

TEST(Hash, DependsOnScopesAndNotes) {
  Schedule noted = Scheduled(Matmul());
  noted.Annotate(noted.GetBlock("matmul"), "note", 1);
  ExpectDifferent(Matmul(), noted.program());
  Schedule global = Scheduled(Matmul()), stack = Scheduled(Matmul());
  global.CacheWrite(global.GetBlock("matmul"), "global");
  stack.CacheWrite(stack.GetBlock("matmul"), "stack");
  ASSERT_TRUE(global.ok() && stack.ok()) << global.status();
  ExpectDifferent(global.program(), stack.program());
}

}  // namespace
}  // namespace kiln
