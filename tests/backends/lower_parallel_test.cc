// Tests compiled parallel loops: on 1 to 3 threads, results equal the interpreter's. The MLIR module keeps serial
// loops, with attributes for parallel ones, so that a backend without threads can run it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/compiled/run_program.h"
#include "testing/goto_matmul.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

void ExpectAgreement(const Program& p) {
  std::vector<std::string> inputs;
  for (const Id id : p.parameters) {
    if (p.buffers[id].role == Role::kOutput) continue;
    auto x = Random<float>(static_cast<size_t>(BytesOf(p, id) / 4), static_cast<int>(id) + 1);
    inputs.push_back(BytesOfValues(std::vector<float>(x.data(), x.data() + x.size())));
  }
  const auto wanted = kiln::Run(p, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  for (const int threads : {1, 2, 3}) {
    std::vector<std::string> found;
    EXPECT_EQ(RunCompiled(p, inputs, &found, threads), 0);
    EXPECT_EQ(found, *wanted) << threads << " threads";
  }
}

std::string Text(const Program& p, Stage stage) {
  auto module = Lower(p, Context());
  EXPECT_TRUE(module.ok()) << module.status();
  return HostCodegen().Text(**module, {.entries = {{.name = p.name, .noalias = true}}}, stage).value();
}

Program ParallelMatmul(int64_t M, int64_t N, int64_t K, const GotoTiles& tiles, bool pack, int loop) {
  Schedule s = Scheduled(GotoMatmul(M, N, K, tiles, pack));
  s.Parallel(s.GetLoops(s.GetBlock("matmul"))[static_cast<size_t>(loop)]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(LowerParallel, TilesOfAMatmul) {
  ExpectAgreement(ParallelMatmul(32, 64, 48, {8, 4, 32, 16, 16}, false, 0));
  ExpectAgreement(ParallelMatmul(31, 61, 45, {12, 6, 24, 8, 16}, false, 0));
}

// Runs products with packed operands whose parallel loop is inside two other loops. Tests that the iterations get the
// values that code around the parallel loop computed.
TEST(LowerParallel, ValuesOfLoopsAroundAreCaptured) {
  ExpectAgreement(ParallelMatmul(32, 64, 48, {8, 4, 32, 16, 16}, true, 2));
  ExpectAgreement(ParallelMatmul(31, 61, 45, {12, 6, 24, 8, 16}, true, 2));
}

// The program T[y, x] = 2 * A[y, x];  Y[y, x] = T[y, columns - 1 - x], with a parallel loop over rows around both
// blocks. T needs memory for one row per thread, since an iteration writes and reads only its own row.
constexpr char kRows[] = R"(program rows parameters A, Y
  buffer A: f32[24, %1$d] input  buffer Y: f32[24, %1$d] output  buffer T: f32[24, %1$d] temporary
  for r < 24 parallel {
    for j < %1$d { block twice { spatial y < 24 = r  spatial x < %1$d = j  T[y, x] = A[y, x] + A[y, x] } }
    for j < %1$d { block back { spatial y < 24 = r  spatial x < %1$d = j  Y[y, x] = T[y, %2$d - x] } } })";

std::string Rows(int columns) {
  return absl::StrReplaceAll(kRows, {{"%1$d", absl::StrCat(columns)}, {"%2$d", absl::StrCat(columns - 1)}});
}

TEST(LowerParallel, TemporariesOfAnIterationAreItsThreadsOwn) {
  const Program on_stack = Parsed(Rows(500)), on_heap = Parsed(Rows(20000));
  for (int round = 0; round < 5; ++round) {
    ExpectAgreement(on_stack);
    ExpectAgreement(on_heap);
  }
  const std::string stack = Text(on_stack, Stage::kLlvm), heap = Text(on_heap, Stage::kLlvm);
  const auto tile = [](const std::string& text) { return text.substr(text.find("@rows.tile0(")); };
  EXPECT_TRUE(absl::StrContains(tile(stack), "alloca [500 x float]")) << stack;
  EXPECT_TRUE(absl::StrContains(tile(heap), "@malloc")) << heap;
  EXPECT_TRUE(absl::StrContains(tile(heap), "@free")) << heap;
}

TEST(LowerParallel, TemporariesOfTheWholeProgramAreShared) {
  ExpectAgreement(Parsed(R"(program shared parameters A, Y
    buffer A: f32[24, 16] input  buffer Y: f32[24, 16] output  buffer T: f32[24, 16] temporary
    for r < 24 parallel { for j < 16 vectorized {
      block twice { spatial y < 24 = r  spatial x < 16 = j  T[y, x] = A[y, x] + A[y, x] } } }
    for r < 24 parallel { for j < 16 {
      block back { spatial y < 24 = r  spatial x < 16 = j  Y[y, x] = T[23 - y, x] } } })"));
}

TEST(LowerParallel, CopiesOfALoopEachRun) {
  ExpectAgreement(Parsed(R"(program copies parameters A, Y
    buffer A: f32[3, 10] input  buffer Y: f32[3, 10] output  buffer T: f32[3, 10] temporary
    for r < 3 unrolled { for j < 10 parallel {
      block twice { spatial y < 3 = r  spatial x < 10 = j  T[y, x] = A[y, x] + A[y, x] }
      block back { spatial y < 3 = r  spatial x < 10 = j  Y[y, x] = T[y, x] + f32(1) } } })"));
}

TEST(LowerParallel, ThePrepareAndTheMainPhaseShareTheirThreads) {
  const Program p = Parsed(R"(program both parameters A, W, Y
    buffer A: f32[24] input  buffer W: f32[24] constant  buffer Y: f32[24] output  buffer T: f32[24] temporary
    prepare for i < 24 parallel { block pack { spatial x < 24 = i  T[x] = W[23 - x] } }
    for i < 24 parallel { block use { spatial x < 24 = i  Y[x] = T[x]*A[x] } })");
  ExpectAgreement(p);
}

TEST(LowerParallel, CallersMayComeAtTheSameTime) {
  const Program p = Parsed(Rows(500));
  const auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  loaded->Get<void(int)>("rows_set_threads")(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      auto a = Random<float>(24 * 500, caller);
      Array<float> y(24 * 500);
      for (int round = 0; round < 200; ++round) {
        wrong += CallKernel(*loaded, "rows", {a.data(), y.data()}) != 0;
        for (size_t i = 0; i < 500; ++i) wrong += y[i] != 2 * a[499 - i];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LowerParallel, TheModuleStillSaysWhatRunsInTurn) {
  const std::string text = Text(Parsed(Rows(500)), Stage::kMlir);
  EXPECT_TRUE(absl::StrContains(text, "kiln.parallel")) << text;
  EXPECT_TRUE(absl::StrContains(text, "memref.alloca() {alignment = 64 : i64, kiln.per_iteration}")) << text;
  EXPECT_FALSE(absl::StrContains(text, "llvm.")) << text;
}

TEST(LowerParallel, ProgramsWithoutParallelLoopsHaveNothingOfIt) {
  const Program serial = Parsed(absl::StrReplaceAll(Rows(500), {{" parallel", ""}}));
  const Program one = Parsed(absl::StrReplaceAll(Rows(500), {{"24", "1"}}));
  for (const Program& p : {serial, one}) {
    EXPECT_FALSE(absl::StrContains(Text(p, Stage::kMlir), "kiln.")) << ToString(p);
    EXPECT_FALSE(absl::StrContains(Text(p, Stage::kLlvm), "threads")) << ToString(p);
  }
}

TEST(LowerParallel, RefusesParallelLoopsInsideOfOthers) {
  const auto refusal = [](const std::string& outer) {
    return Lower(
               Parsed(absl::StrCat(
                   R"(program nested parameters A, Y
      buffer A: f32[4, 8] input  buffer Y: f32[4, 8] output
      for i < 4 )",
                   outer,
                   R"( { for j < 8 parallel { block copy { spatial y < 4 = i  spatial x < 8 = j  Y[y, x] = A[y, x] } } })")),
               Context())
        .status()
        .ToString();
  };
  EXPECT_EQ(refusal("parallel"),
            "FAILED_PRECONDITION: loop j is parallel inside of loop i, which is parallel too");
  EXPECT_EQ(refusal("vectorized"),
            "FAILED_PRECONDITION: loop j is parallel inside of loop i, which is vectorized");
}

// A program asserts something of each element, and its status is a reduction over all of them. Tests that the status is
// right if another loop runs in parallel, and that making the reduction's loop parallel is refused.
TEST(LowerParallel, AnAssertionIsNotOfAParallelLoop) {
  Builder b("checked");
  const Id X = b.Input("X", DType::kF32, {8}), Y = b.Output("Y", DType::kF32, {8}),
           status = b.Temporary("status", DType::kI32, {});
  b.Compute("scaled", {{"i", 8}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  b.Reduce("assert", {{"i", 8, IterKind::kReduction}}, Monoid::Kind::kOr, {status, {}},
           b.Make(Op::kSelect, DType::kI32,
                  b.Make(Op::kCmpLe, DType::kI1, b.Load(X, {b.Iter(0)}), b.Float(DType::kF32, 0)),
                  b.Integer(DType::kI32, 0), b.Integer(DType::kI32, 1)));
  b.MakeStatus(status);
  Schedule s = Scheduled(b.Finish());
  s.Parallel(s.GetLoops(s.GetBlock("scaled"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  const Program p = s.program();
  for (const float most : {0.f, 1.f}) {
    std::vector<std::string> found;
    EXPECT_EQ(RunCompiled(p, {BytesOfValues(std::vector<float>{0, -1, 0, most, 0, 0, -2, 0})}, &found), most);
  }
  s.Parallel(s.GetLoops(s.GetBlock("assert"))[0]);
  EXPECT_TRUE(absl::StrContains(s.status().message(), "loop i feeds a reduction of block \"assert\""))
      << s.status();
}

}  // namespace
}  // namespace kiln
