#include "lang/program/expr_copier.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

// Doubles the argument 0 sixty times: 61 nodes, which as a tree would have 2^60 leaves.
Id Doublings(Program& p) {
  Id x = p.AddExpr(Expr::Arg(DType::kF32, 0));
  for (int i = 0; i < 60; ++i) x = p.AddExpr({Op::kAdd, DType::kF32, x, x});
  return x;
}

TEST(ExprCopier, CopiesSharedExpressionsOnce) {
  Program from, to;
  const Id x = Doublings(from);
  ExprCopier(from, to, {}).Copy(x);
  EXPECT_EQ(to.exprs.size(), 61);
}

TEST(ExprCopier, ReplacesSharedExpressionsOnce) {
  Program p;
  const Id x = Doublings(p), one = p.AddExpr(Expr::Constant(DType::kF32, 1));
  int asked = 0;
  ExprCopier copier(p, p, {.replace = [&](Id id) {
                      asked += p.exprs[id].op == Op::kArg;
                      return p.exprs[id].op == Op::kArg ? one : kNone;
                    }});
  EXPECT_NE(copier.Copy(x), x);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(p.exprs.size(), 62 + 60);
}

TEST(ExprCopier, CopiesSmallExpressionsAsTrees) {
  Program from, to;
  const Id mark = from.AddMark(IndexSum::Of(Source::Iter(0)), 8);
  const Id load = from.AddExpr(Expr::Load(DType::kF32, 0, from.AddList({mark})));
  const Id sum = from.AddExpr({Op::kAdd, DType::kF32, load, load});
  const auto copied = [&](Id mark) { return to.AddMark(from.SumOf(mark), 8); };
  ExprCopier(from, to, {.mark = copied, .written_out = 3}).Copy(sum);
  EXPECT_EQ(to.exprs.size(), 3);  // a load for each operand
  ExprCopier(from, to, {.mark = copied, .written_out = 2}).Copy(sum);
  EXPECT_EQ(to.exprs.size(), 3 + 2);
}

TEST(ExprCopier, WithoutRulesAnExpressionIsItsOwnCopyInItsProgram) {
  Program p;
  const Id x = Doublings(p);
  EXPECT_EQ(ExprCopier(p, p, {}).Copy(x), x);
}

TEST(ExprCopier, CopiesBuffersAndMarksByRules) {
  Program from, to;
  const Id mark = from.AddMark(IndexSum::Of(Source::Iter(0)), 8);
  const Id load = from.AddExpr(Expr::Load(DType::kF32, 3, from.AddList({mark, mark})));
  ExprCopier copier(from, to,
                    {.buffer = [](Id buffer) { return buffer + 10; },
                     .mark = [&](Id) { return to.AddMark(IndexSum::Of(Source::Iter(1)), 8); }});
  const auto [buffer, index] = to.exprs[copier.Copy(load)].AsLoad();
  EXPECT_EQ(buffer, 13);
  ASSERT_EQ(index.count, 2);
  EXPECT_EQ(to.SumOf(to.List(index)[0]), IndexSum::Of(Source::Iter(1)));
}

TEST(ExprCopier, SaysThatAMarkHasNoCopy) {
  Program p;
  const Id index = p.AddExpr(Expr::Index(p.AddMark(IndexSum::Of(Source::Iter(0)), 8)));
  const Id sum = p.AddExpr({Op::kAdd, DType::kIndex, index, index});
  EXPECT_EQ(ExprCopier(p, p, {.mark = [](Id) { return kNone; }}).Copy(sum), kNone);
}

}  // namespace
}  // namespace kiln
