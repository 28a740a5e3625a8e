#include "lang/program/compact.h"

#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

// Returns the program y = exp(x)·exp(x), in two blocks.
Program TwoBlocks() {
  Builder b("two");
  const Id x = b.Input("x", DType::kF32, {8}), t = b.Temporary("t", DType::kF32, {8}),
           y = b.Output("y", DType::kF32, {8});
  b.Compute("first", {{"i", 8}}, {t, {b.Iter(0)}}, b.Make(Op::kExp, DType::kF32, b.Load(x, {b.Iter(0)})));
  b.Compute("second", {{"i", 8}}, {y, {b.Iter(0)}}, b.Mul(b.Load(t, {b.Iter(0)}), b.Load(t, {b.Iter(0)})));
  return b.Finish();
}

TEST(Compact, DropsWhatInliningLeavesAndNothingElse) {
  Schedule s = Scheduled(TwoBlocks());
  s.ComputeInline(s.GetBlock("first"));
  ASSERT_TRUE(s.ok()) << s.status();
  Program p = s.program();
  const size_t before = p.exprs.size();
  DropUnusedExprs(p);
  EXPECT_LT(p.exprs.size(), before);
  EXPECT_EQ(p.exprs.size(), 3);  // x[i], exp, the product
  EXPECT_TRUE(Deserialize(Serialize(p)).ok()) << Deserialize(Serialize(p)).status();
  EXPECT_EQ(ToString(p), ToString(s.program()));
  EXPECT_EQ(HashOf(p), HashOf(s.program()));
}

TEST(Compact, AddExprFindsWhatStayed) {
  Program p = TwoBlocks();
  p.AddExpr(Expr::Constant(DType::kI64, 7));
  DropUnusedExprs(p);
  const size_t size = p.exprs.size();
  for (size_t i = 0; i < size; ++i) {
    const Expr e = p.exprs[i];
    EXPECT_EQ(p.AddExpr(e), static_cast<Id>(i));
  }
  EXPECT_EQ(p.exprs.size(), size);
  EXPECT_EQ(p.AddExpr(Expr::Constant(DType::kI64, 7)), static_cast<Id>(size));
}

}  // namespace
}  // namespace kiln
