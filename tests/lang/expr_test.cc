#include "lang/program/expr.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Loads of a scalar are equal though their index ranges begin elsewhere: the range is empty, and may begin anywhere.
TEST(Expr, LoadsOfAScalarAreEqual) {
  EXPECT_EQ(Expr::Load(DType::kI16, 2, {30, 0}), Expr::Load(DType::kI16, 2, {7, 0}));
}

TEST(Expr, ViewsReadWhatMakersWrote) {
  EXPECT_EQ(Expr::Constant(DType::kI64, -7).Number(), -7);
  EXPECT_EQ(Expr::Arg(DType::kF32, 3).Number(), 3);
  EXPECT_EQ(Expr::Index(5).AsIndex(), 5);
  const auto [buffer, index] = Expr::Load(DType::kF32, 2, {30, 4}).AsLoad();
  EXPECT_THAT((std::array{buffer, index.begin, index.count}), ElementsAre(2, 30, 4));
  const auto [from, at] = Expr::Gather(DType::kF32, 6, 8).AsGather();
  EXPECT_THAT((std::array{from, at}), ElementsAre(6, 8));
  const auto [marks, value, otherwise] =
      Expr::Within(DType::kF32, {0x7ffffff0, 0x7fffffff}, 10, 11).AsWithin();
  EXPECT_THAT((std::array{marks.begin, marks.count, value, otherwise}),
              ElementsAre(0x7ffffff0, 0x7fffffff, 10, 11));
}

TEST(Expr, OperandsAreTheExpressionsItIsMadeOf) {
  EXPECT_THAT(Expr::Load(DType::kF32, 2, {30, 4}).Operands(), IsEmpty());
  EXPECT_THAT(Expr::Index(5).Operands(), IsEmpty());
  EXPECT_THAT(Expr::Gather(DType::kF32, 6, 8).Operands(), ElementsAre(8));
  EXPECT_THAT(Expr::Within(DType::kF32, {1, 2}, 10, 11).Operands(), ElementsAre(10, 11));
  Expr select(Op::kSelect, DType::kF32, 1, 2, 3);
  for (Id& operand : select.Operands()) operand *= 10;
  EXPECT_EQ(select, Expr(Op::kSelect, DType::kF32, 10, 20, 30));
}

TEST(Expr, EqualNodesHashAlikeAndOthersDiffer) {
  const Expr zero = Expr::Constant(DType::kI64, 0);
  EXPECT_EQ(zero.Hash(), Expr::Constant(DType::kI64, 0).Hash());
  for (const Expr& other : {Expr::Constant(DType::kI32, 0), Expr::Constant(DType::kI64, 1),
                            Expr::Arg(DType::kI64, 0), Expr::Index(0)}) {
    EXPECT_FALSE(zero == other);
    EXPECT_NE(zero.Hash(), other.Hash());
  }
  EXPECT_TRUE(zero.IsConstant(0));
  EXPECT_FALSE(zero.IsConstant(1));
  EXPECT_FALSE(Expr::Arg(DType::kI64, 0).IsConstant(0));
}

TEST(ExprDeathTest, AViewOfAnotherOperationIsADefect) {
  EXPECT_DEATH(Expr::Index(5).AsLoad(), "index has another view or maker");
  EXPECT_DEATH(Expr::Index(5).Number(), "index has another view or maker");
  EXPECT_DEATH(Expr(Op::kLoad, DType::kF32, 2, 30, 4), "load has another view or maker");
}

}  // namespace
}  // namespace kiln
