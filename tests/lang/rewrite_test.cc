// Tests that the rewriter keeps shared expressions shared: it creates one node each, not one for each use.
#include "lang/schedule/rewrite.h"

#include <gtest/gtest.h>

#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

// Returns an expression that loads x at the first iter, and applies x = x*0.5 + x `times` times.
Id Diamonds(Program& p, Id buffer, int times) {
  const Range at = p.AddList({p.AddMark(IndexSum::Of(Source::Iter(0)), 8)});
  Id x = p.AddExpr(Expr::Load(DType::kF32, buffer, at));
  const Id half = p.AddExpr(Expr::Constant(DType::kF32, 0x3fe0000000000000));
  for (int i = 0; i < times; ++i) {
    const Id product = p.AddExpr({Op::kMul, DType::kF32, x, half});
    x = p.AddExpr({Op::kAdd, DType::kF32, product, x});
  }
  return x;
}

TEST(Rewrite, ExpressionsThatStayAreNotMadeAnew) {
  Program p;
  const Id buffer = p.AddBuffer("a", DType::kF32, {8}, Role::kInput);
  const Id x = Diamonds(p, buffer, 100);
  EXPECT_EQ(p.exprs.size(), 202);
  const auto same = [](int iter) { return IndexSum::Of(Source::Iter(iter)); };
  EXPECT_TRUE(CanSubstitute(p, x, same, {8}));
  EXPECT_EQ(BodyRewriter(p, nullptr, same, {8}).Expression(x), x);
  EXPECT_EQ(p.exprs.size(), 202);
}

TEST(Rewrite, EachSharedExpressionIsRewrittenOnce) {
  Program p;
  const Id a = p.AddBuffer("a", DType::kF32, {8}, Role::kInput);
  const Id x = Diamonds(p, a, 100);
  const Id zero = p.AddExpr(Expr::Constant(DType::kF32, 0));
  int loads = 0;
  const auto load = [&](const Expr&) { return ++loads, zero; };
  const auto same = [](int iter) { return IndexSum::Of(Source::Iter(iter)); };
  EXPECT_NE(BodyRewriter(p, load, same, {8}).Expression(x), x);
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(p.exprs.size(), 203 + 200);  // an existing expression replaces the load
}

TEST(Rewrite, AnEqualExpressionIsFoundWhereverItStands) {
  Program p;
  const Id a = p.AddBuffer("a", DType::kF32, {8}, Role::kInput);
  const size_t x = Diamonds(p, a, 100), size = p.exprs.size();
  for (size_t i = 0; i < size; ++i) {
    const Expr e = p.exprs[i];
    EXPECT_EQ(p.AddExpr(e), static_cast<Id>(i));
  }
  EXPECT_EQ(p.exprs.size(), size);
  EXPECT_EQ(x, size - 1);
}

}  // namespace
}  // namespace kiln
