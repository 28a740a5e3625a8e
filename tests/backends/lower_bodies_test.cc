// Tests compiled code for argmax, gathers, loop indices, scalars and the status, unscheduled and scheduled: it agrees
// with the interpreter.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/schedule/schedule.h"
#include "testing/compiled/run_program.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

constexpr auto kF32 = DType::kF32;
constexpr auto kI64 = DType::kI64;

class NoChoices : public Chooser {
 public:
  Decision Choose(const Site&) override { return {}; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
};

template <typename Steps>
Program Scheduled(const Program& program, Steps steps) {
  NoChoices none;
  Schedule s(program, Target(), none);
  steps(s);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

void ExpectAgreement(const Program& original, const Program& p, const std::vector<std::string>& inputs) {
  ASSERT_TRUE(Verify(p).ok()) << Verify(p);
  const auto wanted = kiln::Run(original, inputs), interpreted = kiln::Run(p, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  ASSERT_TRUE(interpreted.ok()) << interpreted.status();
  EXPECT_EQ(*interpreted, *wanted);
  std::vector<std::string> compiled;
  EXPECT_EQ(RunCompiled(p, inputs, &compiled), 0);
  EXPECT_EQ(compiled, *wanted);
}

// --- Tests that compiled argmax blocks, with two results, agree with the interpreter

constexpr int kRows = 5, kColumns = 29;

Program ArgMax(bool last = false) {
  Builder b("argmax");
  const Id X = b.Input("X", kF32, {kRows, kColumns}), V = b.Output("V", kF32, {kRows}),
           P = b.Output("P", kI64, {kRows});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("argmax", {{"i", kRows}, {"k", kColumns, IterKind::kReduction}},
           b.ArgMonoid(Monoid::Kind::kMax, kF32, kI64, last), {{V, {i}}, {P, {i}}},
           {b.Load(X, {i, k}), b.Cast(kI64, b.Index(k))});
  return b.Finish();
}

// Returns five rows of 29 floats as the input of an argmax: rows with two NaN, with zeros of both signs, with nothing
// but -infinity, and rows of random numbers.
std::vector<std::string> ArgMaxInputs() {
  auto x = Random<float>(kRows * kColumns, 3, -3, 3);
  std::vector<float> values(x.data(), x.data() + x.size());
  values[kColumns + 4] = values[kColumns + 17] = std::nanf("");
  for (int k = 0; k < kColumns; ++k) {
    values[2 * kColumns + k] = k % 3 == 0 ? 0.f : -0.f;
    values[3 * kColumns + k] = -INFINITY;
  }
  return {BytesOfValues(values)};
}

TEST(LowerBodies, ArgMaxFindsTheFirstAndTheLastOfEqualValues) {
  for (const bool last : {false, true}) {
    const Program p = ArgMax(last);
    ExpectAgreement(p, p, ArgMaxInputs());
    const auto out = kiln::Run(p, ArgMaxInputs());
    EXPECT_EQ(ValuesOf<int64_t>((*out)[1])[1], last ? 17 : 4);
    EXPECT_EQ(ValuesOf<int64_t>((*out)[1])[3], last ? kColumns - 1 : 0);
  }
}

TEST(LowerBodies, ArgMaxKeepsItsResultWhereLanesAreOfEitherKind) {
  const Program p = ArgMax();
  for (const int64_t lanes : {2, 4, 7, 8}) {
    for (const int loop : {0, 1}) {
      const Program scheduled = Scheduled(p, [&](Schedule& s) {
        const Block block = s.GetBlock("argmax");
        const auto loops = s.GetLoops(block);
        const auto parts = s.Split(loops[loop], {kAuto, lanes});
        if (loop == 0) s.Reorder({parts[0], loops[1], parts[1]});
        s.Vectorize(parts[1]);
      });
      SCOPED_TRACE(absl::StrCat(lanes, " lanes of loop ", loop));
      ExpectAgreement(p, scheduled, ArgMaxInputs());
    }
  }
}

TEST(LowerBodies, ArgMaxIsAccumulatedInRegisters) {
  const Program p = ArgMax();
  for (const int64_t part : {3, 4}) {
    const Program scheduled = Scheduled(p, [&](Schedule& s) {
      const Block block = s.GetBlock("argmax");
      const auto k = s.Split(s.GetLoops(block)[1], {kAuto, part});
      s.Unroll(k[1]);
      s.AccumulateAt(block, k[0]);
    });
    ExpectAgreement(p, scheduled, ArgMaxInputs());
  }
}

TEST(LowerBodies, ArgMaxIsDecomposedReorderedUnrolledAndParallel) {
  const Program p = ArgMax();
  ExpectAgreement(p,
                  Scheduled(p,
                            [](Schedule& s) {
                              const Block block = s.GetBlock("argmax");
                              const auto loops = s.GetLoops(block);
                              const auto k = s.Split(loops[1], {kAuto, 4});
                              s.Reorder({k[1], loops[0], k[0]});
                              s.Unroll(k[0]);
                              s.DecomposeReduction(block, k[1]);
                            }),
                  ArgMaxInputs());
  ExpectAgreement(p,
                  Scheduled(p,
                            [](Schedule& s) {
                              const Block block = s.GetBlock("argmax");
                              s.Parallel(s.GetLoops(block)[0]);
                              s.CacheRead(block, 0);
                            }),
                  ArgMaxInputs());
}

TEST(LowerBodies, ArgMaxMovesBelowItsReader) {
  Builder b("picked");
  const Id X = b.Input("X", kF32, {6, 9}), Y = b.Output("Y", kF32, {6}), V = b.Temporary("V", kF32, {6}),
           P = b.Temporary("P", DType::kI32, {6});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("argmin", {{"i", 6}, {"k", 9, IterKind::kReduction}},
           b.ArgMonoid(Monoid::Kind::kMin, kF32, DType::kI32), {{V, {i}}, {P, {i}}},
           {b.Load(X, {i, k}), b.Cast(DType::kI32, b.Index(k))},
           {b.Float(kF32, 0), b.Integer(DType::kI32, -1)});
  b.Compute("picked", {{"i", 6}}, {Y, {i}}, b.Add(b.Load(V, {i}), b.Cast(kF32, b.Load(P, {i}))));
  const Program p = b.Finish();
  auto x = Random<float>(54, 8);
  for (int n = 0; n < 9; ++n) x[n] = 2;  // a row that the start beats
  const std::vector<std::string> inputs = {BytesOfValues(std::vector<float>(x.data(), x.data() + 54))};
  ExpectAgreement(p, p, inputs);
  EXPECT_EQ(ValuesOf<float>((*kiln::Run(p, inputs))[0])[0], -1);
  ExpectAgreement(p,
                  Scheduled(p,
                            [](Schedule& s) {
                              const Loop outer = s.Split(s.GetLoops(s.GetBlock("picked"))[0], {kAuto, 2})[0];
                              s.ComputeAt(s.GetBlock("argmin"), outer);
                            }),
                  inputs);
}

TEST(LowerBodies, StepsThatNeedOneResultRefuseArgMaxByName) {
  const auto error = [](auto step) {
    NoChoices none;
    Schedule s(ArgMax(), Target(), none);
    step(s, s.GetBlock("argmax"));
    return std::string(s.status().message());
  };
  EXPECT_NE(error([](Schedule& s, Block b) { s.CacheWrite(b); }).find("block \"argmax\" has several results"),
            std::string::npos);
}

TEST(LowerBodies, MergedLoopsKeepWhatLaterIterationsRead) {
  // The program T[i, j] = A[i, j];  B[i, j] = i > 0 ? T[i - 1, j] : 0, whose loops are merged below, so that an
  // iteration reads what an earlier one wrote.
  Builder b("before");
  const Id A = b.Input("A", kF32, {6, 5}), T = b.Temporary("T", kF32, {6, 5}),
           B = b.Output("B", kF32, {6, 5});
  const IndexSum i = b.Iter(0), j = b.Iter(1), before = i + IndexSum::Constant(-1);
  b.Compute("make", {{"i", 6}, {"j", 5}}, {T, {i, j}}, b.Load(A, {i, j}));
  b.Compute("use", {{"i", 6}, {"j", 5}}, {B, {i, j}},
            b.Within({{before, 6}}, b.Load(T, {before, j}), b.Float(kF32, 0)));
  const Program p = b.Finish();
  const Program scheduled = Scheduled(p, [](Schedule& s) {
    const auto make = s.GetLoops(s.GetBlock("make")), use = s.GetLoops(s.GetBlock("use"));
    s.Merge(make[0], use[0]);
    s.Merge(make[1], use[1]);
  });
  auto a = Random<float>(30, 3);
  ExpectAgreement(p, scheduled, {BytesOfValues(std::vector<float>(a.data(), a.data() + 30))});
}

// --- Tests that compiled gathers agree with the interpreter

// Vectorizes the gather T[i, k] = Y[i, cast(Y[i, k])] over k with 2 to 16 lanes. Tests that each lane reads the element
// that its own index names.
TEST(LowerBodies, LanesOfAGatherReadTheirOwnElements) {
  for (const int64_t lanes : {2, 3, 4, 5, 8, 16}) {
    Builder b("gathers");
    const Id Y = b.Input("Y", DType::kI32, {1, 16}), T = b.Output("T", DType::kI32, {1, lanes});
    const IndexSum i = b.Iter(0), k = b.Iter(1);
    b.Compute("gather", {{"i", 1}, {"k", lanes}}, {T, {i, k}},
              b.Gather(Y, {b.Index(i), b.Cast(DType::kIndex, b.Load(Y, {i, k}))}));
    const Program p = b.Finish();
    const Program v = Scheduled(p, [](Schedule& s) { s.Vectorize(s.GetLoops(s.GetBlock("gather"))[1]); });
    SCOPED_TRACE(lanes);
    auto y = Random<int32_t>(16, 5, -3, 20);
    ExpectAgreement(p, v, {BytesOfValues(std::vector<int32_t>(y.data(), y.data() + 16))});
  }
}

// Returns the program T[i, j] = W[i, j] + 1;  Y[i, j] = T[at[i], j];  Z[i] = T[at[i], at[i]], where T has 7 x 10
// elements and `at` 13 indices.
Program Gathers() {
  Builder b("gathers");
  const Id W = b.Input("W", kF32, {7, 10}), at = b.Input("at", kI64, {13}), Y = b.Output("Y", kF32, {13, 10}),
           Z = b.Output("Z", kF32, {13}), T = b.Temporary("T", kF32, {7, 10});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("table", {{"i", 7}, {"j", 10}}, {T, {i, j}}, b.Add(b.Load(W, {i, j}), b.Float(kF32, 1)));
  const Id row = b.Cast(DType::kIndex, b.Load(at, {i}));
  b.Compute("rows", {{"i", 13}, {"j", 10}}, {Y, {i, j}}, b.Gather(T, {row, b.Index(j)}));
  b.Compute("diagonal", {{"i", 13}}, {Z, {i}}, b.Gather(T, {row, row}));
  return b.Finish();
}

std::vector<std::string> GatherInputs() {
  auto w = Random<float>(70, 5, -99, 99);
  return {BytesOfValues(std::vector<float>(w.data(), w.data() + 70)),
          BytesOfValues(std::vector<int64_t>{0, 6, 3, -1, 7, 2, 9, 100, -77, 5, 5, 1, int64_t{1} << 40})};
}

TEST(LowerBodies, GathersReadTheNearestElement) { ExpectAgreement(Gathers(), Gathers(), GatherInputs()); }

TEST(LowerBodies, GathersAreVectorizedOverComputedAndOtherIndices) {
  const Program p = Gathers();
  for (const int64_t lanes : {3, 4, 8}) {
    SCOPED_TRACE(lanes);
    const auto vectorized = [&](const char* block, int loop) {
      return Scheduled(p, [&](Schedule& s) {
        const auto loops = s.GetLoops(s.GetBlock(block));
        const auto parts = s.Split(loops[loop], {kAuto, lanes});
        if (loop + 1 < static_cast<int>(loops.size())) s.Reorder({parts[0], loops[1], parts[1]});
        s.Vectorize(parts[1]);
      });
    };
    ExpectAgreement(p, vectorized("rows", 1), GatherInputs());
    ExpectAgreement(p, vectorized("rows", 0), GatherInputs());
    ExpectAgreement(p, vectorized("diagonal", 0), GatherInputs());
  }
}

TEST(LowerBodies, AGatheredTableMayHaveALayoutAndBeMadeBelowALoop) {
  const Program p = Gathers();
  ExpectAgreement(p,
                  Scheduled(p,
                            [](Schedule& s) {
                              const Block table = s.GetBlock("table"), rows = s.GetBlock("rows");
                              s.TransformLayout(table, -1, "(i, j) -> (j/5, i, j%5)");
                              const auto loops = s.GetLoops(rows);
                              s.Unroll(s.Split(loops[0], {kAuto, 4})[1]);
                            }),
                  GatherInputs());
  Builder b("below");
  const Id W = b.Input("W", kF32, {7}), at = b.Input("at", kI64, {12}), Y = b.Output("Y", kF32, {12}),
           T = b.Temporary("T", kF32, {7});
  const IndexSum i = b.Iter(0);
  b.Compute("table", {{"i", 7}}, {T, {i}}, b.Add(b.Load(W, {i}), b.Float(kF32, 1)));
  b.Compute("rows", {{"i", 12}}, {Y, {i}}, b.Gather(T, {b.Cast(DType::kIndex, b.Load(at, {i}))}));
  const Program below = b.Finish();
  ExpectAgreement(below,
                  Scheduled(below,
                            [](Schedule& s) {
                              const auto loops = s.Split(s.GetLoops(s.GetBlock("rows"))[0], {kAuto, 5});
                              s.ComputeAt(s.GetBlock("table"), loops[0]);
                              s.Vectorize(loops[1]);
                            }),
                  {BytesOfValues<float>({1, 2, 3, 4, 5, 6, 7}),
                   BytesOfValues<int64_t>({6, 5, 4, 3, 2, 1, 0, 1, 2, -3, 8, 6})});
}

TEST(LowerBodies, AGatherMayFindItsIndexByAGatherInsideAGuard) {
  Builder b("chain");
  const Id next = b.Input("next", DType::kI32, {6}), X = b.Input("X", kF32, {6}),
           Y = b.Output("Y", kF32, {8});
  const IndexSum i = b.Iter(0), inner = i + IndexSum::Constant(-1);
  const Id first = b.Cast(DType::kIndex, b.Load(next, {inner}));
  const Id second = b.Cast(DType::kIndex, b.Gather(next, {first}));
  b.Compute("chain", {{"i", 8}}, {Y, {i}}, b.Within({{inner, 6}}, b.Gather(X, {second}), b.Float(kF32, -1)));
  const Program p = b.Finish();
  const std::vector<std::string> inputs = {BytesOfValues<int32_t>({3, 2, 5, 0, 9, 1}),
                                           BytesOfValues<float>({10, 11, 12, 13, 14, 15})};
  ExpectAgreement(p, p, inputs);
  ExpectAgreement(p, Scheduled(p, [](Schedule& s) { s.Vectorize(s.GetLoops(s.GetBlock("chain"))[0]); }),
                  inputs);
}

// --- Tests that compiled loop indices, scalar arguments and the status of assertions agree with the interpreter

TEST(LowerBodies, IndicesScalarsAndVectorsOfThemAreValues) {
  Builder b("ramp");
  const Id scale = b.Scalar("scale", kF32), Y = b.Output("Y", kF32, {3, 11});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("ramp", {{"i", 3}, {"j", 11}}, {Y, {i, j}},
            b.Mul(b.Load(scale, {}), b.Cast(kF32, b.Index(i * 100 + j * -2))));
  const Program p = b.Finish();
  const std::vector<std::string> inputs = {BytesOfValues<float>({0.5})};
  ExpectAgreement(p, p, inputs);
  ExpectAgreement(p,
                  Scheduled(p,
                            [](Schedule& s) {
                              const auto loops = s.GetLoops(s.GetBlock("ramp"));
                              const auto parts = s.Split(s.Fuse(loops), {kAuto, 8});
                              s.Vectorize(parts[1]);
                            }),
                  inputs);
}

TEST(LowerBodies, TheStatusIsReturnedAndIsNoParameter) {
  Builder b("checked");
  const Id X = b.Input("X", DType::kI32, {9}), Y = b.Output("Y", DType::kI32, {9}),
           status = b.Temporary("status", DType::kI32, {});
  const IndexSum i = b.Iter(0);
  const Id x = b.Load(X, {i}), none = b.Integer(DType::kI32, 0);
  b.Compute("twice", {{"i", 9}}, {Y, {i}}, b.Add(x, x));
  b.Reduce("assert", {{"i", 9, IterKind::kReduction}}, Monoid::Kind::kOr, {status, {}},
           b.Make(Op::kSelect, DType::kI32, b.Make(Op::kCmpGe, DType::kI1, x, none), none,
                  b.Integer(DType::kI32, 1)));
  b.MakeStatus(status);
  const Program p = b.Finish();
  EXPECT_EQ(p.parameters.size(), 2u);
  const std::vector<std::string> good = {BytesOfValues<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9})},
                                 bad = {BytesOfValues<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, -9})};
  const Program scheduled = Scheduled(
      p, [](Schedule& s) { s.Vectorize(s.Split(s.GetLoops(s.GetBlock("assert"))[0], {kAuto, 4})[1]); });
  for (const Program& version : {p, scheduled}) {
    ExpectAgreement(p, version, good);
    std::vector<std::string> outputs;
    EXPECT_EQ(RunCompiled(version, bad, &outputs), 1);
    EXPECT_EQ(
        kiln::Run(version, bad).status(),
        absl::InvalidArgumentError("checked returns status 1: an assertion does not hold for these inputs"));
  }
}

}  // namespace
}  // namespace kiln
