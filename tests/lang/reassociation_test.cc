#include "lang/patterns/reassociation.h"

#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/support/tensorized.h"

namespace kiln {
namespace {

// Returns the program C[i] = the sum (or another reduction) of A[i, y, x].
Program Rows(DType type = DType::kF32, Monoid::Kind kind = Monoid::Kind::kSum) {
  Builder b("rows");
  const Id a = b.Input("A", type, {8, 4, 16}), c = b.Output("C", type, {8});
  b.Reduce("rows", {{"i", 8}, {"y", 4, IterKind::kReduction}, {"x", 16, IterKind::kReduction}}, kind,
           {c, {b.Iter(0)}}, b.Load(a, {b.Iter(0), b.Iter(1), b.Iter(2)}));
  return b.Finish();
}

template <typename Steps>
bool After(Steps steps, Program program = Rows()) {
  Schedule s = Scheduled(std::move(program));
  steps(s, s.GetBlock("rows"));
  EXPECT_TRUE(s.ok()) << s.status();
  return Reassociates(s.program());
}

void Swap(Schedule& s, Block rows) { s.Reorder({s.GetLoops(rows)[2], s.GetLoops(rows)[1]}); }

TEST(Reassociation, NoneInAProgramAsItCame) { EXPECT_FALSE(Reassociates(Rows())); }

TEST(Reassociation, TilesInTheirOrderKeepTheOrder) {
  EXPECT_FALSE(After([](Schedule& s, Block rows) {
    const Loop k = s.Fuse({s.GetLoops(rows)[1], s.GetLoops(rows)[2]});
    const auto [ko, ki] = s.Split(k, {Factor(kAuto), Factor(8)});
    const auto [io, ii] = s.Split(s.GetLoops(rows)[0], {Factor(2), Factor(4)});
    s.Reorder({io, ko, ii, ki});
    s.Unroll(ki);
    s.Vectorize(ii);
  }));
}

TEST(Reassociation, LoopsInAnotherOrderChangeIt) {
  EXPECT_TRUE(After(Swap));
  EXPECT_TRUE(After([](Schedule& s, Block rows) {
    const auto [xo, xi] = s.Split(s.GetLoops(rows)[2], {Factor(4), Factor(4)});
    s.Reorder({xi, xo});
  }));
}

TEST(Reassociation, OrderMattersOnlyWhereItRounds) {
  EXPECT_FALSE(After(Swap, Rows(DType::kI32)));
  EXPECT_FALSE(After(Swap, Rows(DType::kF32, Monoid::Kind::kMax)));
  EXPECT_TRUE(After(Swap, Rows(DType::kF32, Monoid::Kind::kProduct)));
}

TEST(Reassociation, LanesAddUpApart) {
  EXPECT_TRUE(After([](Schedule& s, Block rows) { s.Vectorize(s.GetLoops(rows)[2]); }));
}

TEST(Reassociation, PartsThatAreCombinedAreAnotherOrder) {
  EXPECT_TRUE(After([](Schedule& s, Block rows) { s.Rfactor(rows, s.GetLoops(rows)[1]); }));
  EXPECT_TRUE(After([](Schedule& s, Block rows) { s.AccumulateAt(rows, s.GetLoops(rows)[1]); }));
}

TEST(Reassociation, ASumThatIsStoredWholeIsNoPart) {
  EXPECT_FALSE(After([](Schedule& s, Block rows) { s.AccumulateAt(rows, s.GetLoops(rows)[0]); }));
}

TEST(Reassociation, InstructionsThatAddSeveralProductsAtOnceDoNotSayInWhichOrder) {
  EXPECT_TRUE(Reassociates(Tensorized(RowOf("bf16.16x2"))));
  EXPECT_FALSE(Reassociates(Tensorized(RowOf("vnni.8x4"))));
  const Target target;
  const IntrinsicFamily& fma = *target.matrix_intrinsics()[0];
  EXPECT_FALSE(Reassociates(Tensorized(Matmul(12, 32, 8), "matmul", fma)));
}

}  // namespace
}  // namespace kiln
