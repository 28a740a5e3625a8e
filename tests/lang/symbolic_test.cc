#include "lang/reference/symbolic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
constexpr DType kType = DType::kF32;
constexpr IterKind kReduce = IterKind::kReduction;

// Returns the program B[i] = the monoid's combination of lift(i, r) over all r < length.
template <typename Lift>
Program Rows(Monoid::Kind monoid, int64_t length, Lift lift) {
  Builder b("rows");
  const Id A = b.Input("A", kType, {4, 6}), B = b.Output("B", kType, {4});
  b.Reduce("rows", {{"i", 4}, {"r", length, kReduce}}, monoid, {B, {b.Iter(0)}}, lift(b, A));
  return b.Finish();
}

Id Element(Builder& b, Id A) { return b.Load(A, {b.Iter(0), b.Iter(1)}); }
Id Clamped(Builder& b, Id A) {  // at r = 6, reads the last element again
  return b.Within({{b.Iter(1), 6}}, Element(b, A), b.Load(A, {b.Iter(0), IndexSum::Constant(5)}));
}
Id Padded(Builder& b, Id A) { return b.Within({{b.Iter(1), 6}}, Element(b, A), b.Float(kType, 0)); }

std::string Compare(const Program& program, const Program& original, uint64_t shuffle = 0) {
  const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(original);
  if (!wanted.ok()) return wanted.status().ToString();
  return std::string(CheckSymbolic(program, *wanted, {.shuffle = shuffle}).message());
}

// Returns the program T[i] = A[0, i] for i < rows; B[i] = T[A[1, i]], or T[1] if `known`.
Program Gathered(int64_t rows, bool known) {
  Builder b("gathered");
  const Id A = b.Input("A", kType, {4, 6}), B = b.Output("B", kType, {4}), T = b.Temporary("T", kType, {4});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", rows}}, {T, {i}}, b.Load(A, {IndexSum::Constant(0), i}));
  const Id at =
      known ? b.Index(IndexSum::Constant(1)) : b.Cast(DType::kIndex, b.Load(A, {IndexSum::Constant(1), i}));
  b.Compute("gather", {{"i", 4}}, {B, {i}}, b.Gather(T, {at}));
  return b.Finish();
}

TEST(Symbolic, LetsAGatherReadAnyElementThatItsKnownIndicesAllow) {
  EXPECT_EQ(Compare(Gathered(4, false), Gathered(4, false)), "");
  EXPECT_THAT(Compare(Gathered(3, false), Gathered(4, false)), HasSubstr("reads what is not written yet: T"));
  EXPECT_EQ(Compare(Gathered(3, true), Gathered(4, true)), "");
  EXPECT_NE(Compare(Gathered(4, true), Gathered(4, false)), "");
}

TEST(Symbolic, CountsWhatEntersASum) {
  const Program sum = Rows(Monoid::Kind::kSum, 6, Element);
  EXPECT_EQ(Compare(sum, sum), "");
  EXPECT_THAT(Compare(Rows(Monoid::Kind::kSum, 7, Clamped), sum), HasSubstr("B[0] holds"));
  EXPECT_THAT(Compare(Rows(Monoid::Kind::kSum, 5, Element), sum), HasSubstr("of 5 combined"));
}

TEST(Symbolic, LetsAMaximumSeeAnElementTwice) {
  const Program max = Rows(Monoid::Kind::kMax, 6, Element);
  EXPECT_EQ(Compare(Rows(Monoid::Kind::kMax, 7, Clamped), max), "");
  EXPECT_THAT(Compare(Rows(Monoid::Kind::kMax, 5, Element), max), HasSubstr("of 5 combined"));
}

TEST(Symbolic, TellsMonoidsApart) {
  EXPECT_NE(Compare(Rows(Monoid::Kind::kMax, 6, Element), Rows(Monoid::Kind::kMin, 6, Element)), "");
}

TEST(Symbolic, TakesWhatIsNeutralForNothing) {
  EXPECT_EQ(Compare(Rows(Monoid::Kind::kSum, 8, Padded), Rows(Monoid::Kind::kSum, 6, Element)), "");
  EXPECT_NE(Compare(Rows(Monoid::Kind::kMax, 8, Padded), Rows(Monoid::Kind::kMax, 6, Element)), "");
}

TEST(Symbolic, TakesAProductWithZeroForZero) {
  const auto product = [](auto lift) {
    return
        [lift](Builder& b, Id A) { return b.Mul(lift(b, A), b.Load(A, {b.Iter(0), IndexSum::Constant(0)})); };
  };
  EXPECT_EQ(
      Compare(Rows(Monoid::Kind::kSum, 8, product(Padded)), Rows(Monoid::Kind::kSum, 6, product(Element))),
      "");
}

TEST(Symbolic, KeepsTheOrderOfOperands) {
  const auto difference = [](bool swap) {
    return [swap](Builder& b, Id A) {
      const Id x = Element(b, A), y = b.Load(A, {b.Iter(0), IndexSum::Constant(0)});
      return b.Make(Op::kSub, kType, swap ? y : x, swap ? x : y);
    };
  };
  EXPECT_NE(
      Compare(Rows(Monoid::Kind::kSum, 6, difference(true)), Rows(Monoid::Kind::kSum, 6, difference(false))),
      "");
}

// Returns the program D[i, j] = relu(3 + sum over k of (A[i, k] + 1) * B[k, j]).
Program Chain() {
  Builder b("chain");
  const Id A = b.Input("A", kType, {7, 9}), B = b.Input("B", kType, {9, 5}),
           A1 = b.Temporary("A1", kType, {7, 9}), C = b.Temporary("C", kType, {7, 5}),
           D = b.Output("D", kType, {7, 5});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Compute("add", {{"i", 7}, {"k", 9}}, {A1, {i, j}}, b.Add(b.Load(A, {i, j}), b.Float(kType, 1)));
  b.Reduce("matmul", {{"i", 7}, {"j", 5}, {"k", 9, kReduce}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A1, {i, k}), b.Load(B, {k, j})), b.Float(kType, 3));
  b.Compute("relu", {{"i", 7}, {"j", 5}}, {D, {i, j}},
            b.Make(Op::kMax, kType, b.Load(C, {i, j}), b.Float(kType, 0)));
  return b.Finish();
}

class SymbolicRunOfSchedule : public testing::Test {
 protected:
  RandomDice dice_{Engine({1})};
  RandomChooser chooser_{dice_};
  Schedule s_{Chain(), Target(), chooser_};
  Block matmul_ = s_.GetBlock("matmul");
  std::vector<Loop> loops_ = s_.GetLoops(matmul_);

  std::string Result(uint64_t shuffle = 0) {
    if (!s_.ok()) return std::string(s_.status().message());
    return Compare(s_.program(), Chain(), shuffle);
  }
};

TEST_F(SymbolicRunOfSchedule, IsTheOriginalsAfterTilingAndPartialSums) {
  const std::vector<Loop> k = s_.Split(loops_[2], {-1, 4});
  s_.Reorder({k[0], loops_[0], loops_[1], k[1]});
  s_.AccumulateAt(matmul_, loops_[0]);
  EXPECT_EQ(Result(), "");
}

TEST_F(SymbolicRunOfSchedule, IsTheOriginalsAfterInliningCachingAndDecomposing) {
  s_.ComputeInline(s_.GetBlock("add"));
  s_.CacheRead(matmul_, 1);
  s_.CacheWrite(matmul_);
  s_.DecomposeReduction(matmul_, loops_[1]);
  EXPECT_EQ(Result(), "");
}

TEST_F(SymbolicRunOfSchedule, AllowsLanesToCombine) {
  s_.Vectorize(loops_[2]);
  EXPECT_EQ(Result(5), "");
}

TEST_F(SymbolicRunOfSchedule, FindsIterationsThatCombineAtOnce) {
  Program p = s_.program();
  p.loop(s_.node(loops_[2])).kind = LoopKind::kParallel;
  EXPECT_THAT(Compare(p, Chain()),
              HasSubstr("combines into what another iteration of a parallel loop wrote: C[0, 0]"));
}

TEST(Symbolic, FindsIterationsThatReadWhatAnotherWrote) {
  Builder b("shift");
  const Id A = b.Input("A", kType, {8}), T = b.Temporary("T", kType, {8}), B = b.Output("B", kType, {8});
  const IndexSum i = b.Iter(0);
  IndexSum left = i;
  left.offset = -1;
  const Id copy = b.Compute("copy", {{"i", 8}}, {T, {i}}, b.Load(A, {i}));
  const Id shift =
      b.Compute("shift", {{"i", 8}}, {B, {i}}, b.Within({{left, 8}}, b.Load(T, {left}), b.Load(T, {i})));
  const Program original = b.Finish();
  Program p = original;  // gets both blocks in one loop
  const Id loop = p.nodes[copy].parent;
  p.Detach(shift);
  p.Append(loop, shift);
  p.Iters(p.block(shift).iters)[0].binding = p.AddMark(IndexSum::Of(Source::Loop(loop)), 8);
  EXPECT_EQ(Compare(p, original), "");
  p.loop(loop).kind = LoopKind::kParallel;
  EXPECT_THAT(Compare(p, original), HasSubstr("reads what another iteration of a parallel loop wrote: T[0]"));
}

TEST(Symbolic, FindsWhatTheInterpreterFinds) {
  Builder b("unwritten");
  const Id A = b.Input("A", kType, {8}), T = b.Temporary("T", kType, {8}), B = b.Output("B", kType, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("half", {{"i", 4}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("all", {{"i", 8}}, {B, {i}}, b.Load(T, {i}));
  EXPECT_EQ(RunSymbolic(b.Finish()).status().message(), "block \"all\" reads what is not written yet: T[4]");
}

TEST(Symbolic, StartsAReductionWhereItsOutermostLoopIsEntered) {
  const absl::StatusOr<Program> p = ParseProgram(R"(kiln.program v1
program sums
parameters x, A, y
buffer x: f32[2] input
buffer A: f32[2, 3] input
buffer y: f32[2] output
buffer T: f32[2] temporary
for i < 2 {
  for k < 3 {
    block start {
      spatial i < 2 = i
      T[i] = x[i]
    }
    block sum {
      spatial i < 2 = i
      reduction k < 3 = k
      y[i] sum= A[i, k] initial T[i]
    }
  }
})");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(RunSymbolic(*p).status().message(), "block \"sum\" reads what is not written yet: T[0]");
}

}  // namespace
}  // namespace kiln
