#include "lang/analysis/cost.h"

#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

constexpr auto kF32 = DType::kF32;

// Returns the program B[i] = op(A[i]), or op(A[i], A[i]) for an operation of two operands.
Program Mapped(Op op) {
  Builder b("mapped");
  const Id A = b.Input("A", kF32, {8}), B = b.Output("B", kF32, {8});
  const Id x = b.Load(A, {b.Iter(0)});
  b.Compute("map", {{"i", 8}}, {B, {b.Iter(0)}},
            Arity(op) == 1 ? b.Make(op, kF32, x) : b.Make(op, kF32, x, x));
  return b.Finish();
}

Id BlockOf(const Program& p, const char* name) {
  for (Id n = 0; n < static_cast<Id>(p.nodes.size()); ++n) {
    if (p.IsBlock(n) && p.Text(p.block(n).name) == name) return n;
  }
  ADD_FAILURE() << "no block is called " << name << " in " << ToString(p);
  return kRoot;
}

TEST(IsCheap, IsFalseForFunctionsAndPadding) {
  const auto cheap = [](Op op) {
    const Program p = Mapped(op);
    return IsCheap(p, BlockOf(p, "map"));
  };
  for (const Op op : {Op::kExp, Op::kErf, Op::kTanh, Op::kPow, Op::kAtan2})
    EXPECT_FALSE(cheap(op)) << ToString(op);
  for (const Op op : {Op::kAdd, Op::kDiv, Op::kSqrt, Op::kRsqrt, Op::kMax})
    EXPECT_TRUE(cheap(op)) << ToString(op);
}

TEST(Instructions, CountsAMultiplyAddOnceAndFunctionsAsWhatTheyAre) {
  const auto mapped = [](Op op) {
    const Program p = Mapped(op);
    return Instructions(p, BlockOf(p, "map"), {});
  };
  EXPECT_EQ(mapped(Op::kAdd), 1);
  EXPECT_EQ(mapped(Op::kMax), 3);  // two of the three handle NaN
  EXPECT_GE(mapped(Op::kExp), 20);
  EXPECT_GE(mapped(Op::kPow), 64);
  const Program matmul = Matmul(8, 8, 8);
  EXPECT_EQ(Instructions(matmul, BlockOf(matmul, "matmul"), {}), 1);
}

// Returns a program that reads each element of T once, of U twice in one block, and of R in several instances of a
// block.
Program Read() {
  Builder b("read");
  const Id A = b.Input("A", kF32, {4, 4}), once = b.Temporary("T", kF32, {4, 4}),
           twice = b.Temporary("U", kF32, {4, 4}), C = b.Output("C", kF32, {4, 4}),
           row = b.Temporary("R", kF32, {4}), D = b.Output("D", kF32, {4, 4});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("once", {{"i", 4}, {"j", 4}}, {once, {i, j}}, b.Load(A, {i, j}));
  b.Compute("twice", {{"i", 4}, {"j", 4}}, {twice, {j, i}}, b.Load(A, {i, j}));
  b.Compute("add", {{"i", 4}, {"j", 4}}, {C, {i, j}},
            b.Add(b.Load(once, {i, j}), b.Add(b.Load(twice, {i, j}), b.Load(twice, {j, i}))));
  b.Compute("row", {{"i", 4}}, {row, {i}}, b.Load(A, {i, i}));
  b.Compute("spread", {{"i", 4}, {"j", 4}}, {D, {i, j}}, b.Load(row, {i}));
  return b.Finish();
}

TEST(IsReadOnce, WantsOneReadOfEachElement) {
  const Program p = Read();
  EXPECT_TRUE(IsReadOnce(p, BlockOf(p, "once")));
  EXPECT_FALSE(IsReadOnce(p, BlockOf(p, "twice"))) << "two reads";
  EXPECT_FALSE(IsReadOnce(p, BlockOf(p, "row"))) << "each element is read by four instances";
  EXPECT_FALSE(IsReadOnce(p, BlockOf(p, "add"))) << "nobody reads it";
}

TEST(KeepsOrder, IsFalseForATranspose) {
  const Program p = Read();
  EXPECT_TRUE(KeepsOrder(p, BlockOf(p, "once")));
  EXPECT_TRUE(KeepsOrder(p, BlockOf(p, "spread")));
  EXPECT_FALSE(KeepsOrder(p, BlockOf(p, "twice")));
}

TEST(HasReuse, IsOfReductionsThatReadAnElementSeveralTimes) {
  const Program p = Matmul(4, 4, 4);
  EXPECT_TRUE(HasReuse(p, BlockOf(p, "matmul")));
  const Program narrow = Matmul(4, 1, 4);
  EXPECT_TRUE(HasReuse(narrow, BlockOf(narrow, "matmul"))) << "B is read by each row";
  const Program dot = Matmul(1, 1, 4);
  EXPECT_FALSE(HasReuse(dot, BlockOf(dot, "matmul")));
  const Program read = Read();
  EXPECT_FALSE(HasReuse(read, BlockOf(read, "spread"))) << "no reduction";
}

TEST(Flops, CountsOperationsAndReductions) {
  EXPECT_EQ(Flops(Matmul(4, 8, 16)), 2 * 4 * 8 * 16);
  EXPECT_EQ(Flops(Mapped(Op::kExp)), 8);
  EXPECT_EQ(Flops(Read()), 2 * 16) << "copies are none";
}

}  // namespace
}  // namespace kiln
