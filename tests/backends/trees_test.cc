// Tests by their shuffles where the lanes of a CPU vector are combined to one sum (a tree): in a vectorized reduction
// inside of the loop over vectors, and after rfactor only once for each result, behind that loop.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "modules/space.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

constexpr int64_t kRows = 20, kColumns = 4096;

// Returns the program y[i] sum= m[i, k], or y[i] sum= m[i, k] * x[k] if `multiplies`.
Program Rows(bool multiplies) {
  Builder b("rows");
  const Id m = b.Input("m", DType::kF32, {kRows, kColumns}), x = b.Input("x", DType::kF32, {kColumns}),
           y = b.Output("y", DType::kF32, {kRows});
  const IndexSum i = Builder::Iter(0), k = Builder::Iter(1);
  const Id load = b.Load(m, {i, k});
  b.Reduce("rows", {{"i", kRows}, {"k", kColumns, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
           multiplies ? b.Mul(load, b.Load(x, {k})) : load);
  return b.Finish();
}

struct Trees {
  std::vector<int> shuffles;  // number of shuffles, by the number of loops around them
  int loops = 0;              // number of loops around the innermost load of m
};

Trees TreesOf(const Program& program) {
  Trees trees;
  const auto module = Lower(program, Context());
  EXPECT_TRUE(module.ok()) << module.status();
  (**module)->walk([&](mlir::Operation* op) {
    size_t around = 0;
    for (mlir::Operation* up = op->getParentOp(); up != nullptr; up = up->getParentOp())
      around += mlir::isa<mlir::scf::ForOp>(up);
    trees.loops = std::max(trees.loops, static_cast<int>(around));
    if (!mlir::isa<mlir::vector::ShuffleOp>(op)) return;
    if (trees.shuffles.size() <= around) trees.shuffles.resize(around + 1);
    ++trees.shuffles[around];
  });
  return trees;
}

// Returns the number of shuffles in the tree that sums the lanes of a vector. Each step extracts both halves of the
// vector with two shuffles. The last step has none, as it adds two numbers.
int ShufflesOfATree(int lanes) {
  int shuffles = 0;
  for (; lanes > 2; lanes /= 2) shuffles += 2;
  return shuffles;
}

Program Vectorized(int lanes) {
  Schedule s = Scheduled(Rows(false));
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("rows"))[1], {kAuto, lanes})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

Program OfSpace(const std::string& space, const Program& program, const std::string& lanes) {
  const auto sketches = Enumerate(ParseSpace(space).value(), program, Target());
  EXPECT_TRUE(sketches.ok() && sketches->sketches.size() == 1) << sketches.status();
  Trace trace = sketches->sketches[0].trace;
  for (Step& step : trace.steps) {
    if (absl::EndsWith(step.site, "/rows")) step.decision = {kRows / 4, 4};
    if (absl::EndsWith(step.site, "/lanes") && step.decision.size() == 2)
      step.decision = {kColumns / std::stoi(lanes), std::stoi(lanes)};
  }
  const auto replayed = Replay(trace, program, Target());
  EXPECT_TRUE(replayed.ok()) << replayed.status();
  return replayed->program();
}

TEST(Trees, OfAVectorizedReductionRunForEveryVector) {
  for (const int lanes : {4, 8, 16, 32}) {
    const Trees trees = TreesOf(Vectorized(lanes));
    EXPECT_EQ(trees.loops, 2);  // the loops over rows and over the vectors of a row
    ASSERT_EQ(trees.shuffles.size(), 3u);
    EXPECT_EQ(trees.shuffles, (std::vector<int>{0, 0, ShufflesOfATree(lanes)})) << lanes;
  }
}

TEST(Trees, OfRfactoredRowsStandBehindTheLoop) {
  for (const int lanes : {8, 16, 32}) {
    const Trees trees = TreesOf(OfSpace(absl::StrCat("vectorize-rows lanes=", lanes), Rows(false), ""));
    EXPECT_EQ(trees.loops, 2);
    EXPECT_EQ(trees.shuffles, (std::vector<int>{0, ShufflesOfATree(lanes)})) << lanes;
  }
}

TEST(Trees, OfLanesOfMatrixTimesVectorStandBehindTheLoop) {
  for (const int lanes : {8, 16, 32}) {
    const Trees trees =
        TreesOf(OfSpace("pin site=rfactor to=1 | each-block(add-rfactor)", Rows(true), absl::StrCat(lanes)));
    EXPECT_EQ(trees.loops, 2);
    EXPECT_EQ(trees.shuffles, (std::vector<int>{0, 4 * ShufflesOfATree(lanes)})) << lanes;  // four rows
  }
}

}  // namespace
}  // namespace kiln
