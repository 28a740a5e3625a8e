// Tests reverse-compute-at: what a block may read at its new place if one iteration of a loop around it writes only a
// part of a buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns a schedule that moves block `at`, U = `moved_after`, below loop i of block `table`, whose nest is the text
// `table`, and then block `last`, Y = U + `read`, below loop j of block `at`. If both moves apply, expects unchanged
// results.
Schedule Moved(const std::string& table, const std::string& read, const std::string& moved_after = "T") {
  const auto program =
      ParseProgram(absl::StrReplaceAll(R"(kiln.program v1
program parts
parameters X, Y
buffer X: i32[4, 4, 4] input
buffer T: i32[4, 4] temporary
buffer V: i32[4, 4] temporary
buffer U: i32[4, 4] temporary
buffer Y: i32[4, 4] output
TABLE
for i < 4 { for j < 4 { block at { spatial i < 4 = i  spatial j < 4 = j  U[i, j] = FIRST[i, j] } } }
for i < 4 { for j < 4 { block last { spatial i < 4 = i  spatial j < 4 = j  Y[i, j] = U[i, j] + READ } } }
)",
                                       {{"TABLE", table}, {"READ", read}, {"FIRST", moved_after}}));
  EXPECT_TRUE(program.ok()) << program.status();
  Schedule s = Scheduled(*program);
  const Block at = s.GetBlock("at"), last = s.GetBlock("last");
  s.ReverseComputeAt(at, s.GetLoops(s.GetBlock("table"))[0], "last");
  EXPECT_TRUE(s.ok()) << s.status();
  s.ReverseComputeAt(last, s.GetLoops(at)[1]);
  if (s.ok()) ExpectSameResults(*program, s.program());
  return s;
}

constexpr char kRows[] =
    "for i < 4 { for j < 4 { block table { spatial i < 4 = i  spatial j < 4 = j  T[i, j] = X[i, j, 0] } } }";

TEST(ReverseComputeAt, ReadsTheRowThatOneIterationHasWritten) {
  const Schedule s = Moved(kRows, "T[i, j]");
  EXPECT_TRUE(s.ok()) << s.status();
}

TEST(ReverseComputeAt, RefusesToReadRowsThatLaterIterationsWrite) {
  EXPECT_THAT(
      std::string(Moved(kRows, "T[j, i]").status().message()),
      HasSubstr(
          "block \"last\" reads more of T than block \"table\" has written in one iteration of loop i"));
}

TEST(ReverseComputeAt, ReadsRowsThatEachIterationWritesWhole) {
  const Schedule s = Moved(
      "for i < 4 { for h < 4 { for j < 4 { block table { spatial i < 4 = i  spatial h < 4 = h  spatial j < 4 = j\n"
      "T[h, j] = X[h, j, 0] } } }\n"
      "for j < 4 { block row { spatial i < 4 = i  spatial j < 4 = j  V[i, j] = X[i, j, 1] } } }",
      "T[j, i]", "V");
  EXPECT_TRUE(s.ok()) << s.status();
}

// Refuses to move block `last`, Y = P + Q, below loop c of the block that computes Q. Below c, the block no longer uses
// the loop j around both nests: each iteration of j would compute all of Y, but has written only one element of P.
TEST(ReverseComputeAt, RefusesToReadWhatLaterIterationsOfALoopAroundBothPlacesWrite) {
  const auto program = ParseProgram(R"(kiln.program v1
program around
parameters X, A, Y
buffer X: i32[2] input
buffer A: i32[1] input
buffer P: i32[2] temporary
buffer Q: i32[1] temporary
buffer Y: i32[2] output
for j < 2 {
  block p { spatial i < 2 = j  P[i] = X[i] }
  for c < 1 { block q { spatial c < 1 = c  Q[c] = A[c] } }
  for k < 1 { block last { spatial i < 2 = j  spatial k < 1 = k  Y[i] = P[i] + Q[k] } }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  Schedule s = Scheduled(*program);
  s.ReverseComputeAt(s.GetBlock("last"), s.GetLoops(s.GetBlock("q"))[1]);
  EXPECT_THAT(
      std::string(s.status().message()),
      HasSubstr("block \"last\" reads more of P than block \"p\" has written in one iteration of loop j"));
}

// Refuses to move C[i, j] = S[i] * T[j] into for o: { S[o] = A[o];  T[o] = B[o] }. An iteration of o could compute only
// C[o, o].
TEST(ReverseComputeAt, RefusesWhatCombinesPartsOfSeveralIterations) {
  Builder b("outer");
  const Id A = b.Input("A", DType::kF32, {4}), B = b.Input("B", DType::kF32, {4}),
           S = b.Temporary("S", DType::kF32, {4}), T = b.Temporary("T", DType::kF32, {4}),
           C = b.Output("C", DType::kF32, {4, 4});
  b.Compute("s", {{"o", 4}}, {S, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("t", {{"o", 4}}, {T, {b.Iter(0)}}, b.Load(B, {b.Iter(0)}));
  b.Compute("c", {{"i", 4}, {"j", 4}}, {C, {b.Iter(0), b.Iter(1)}},
            b.Mul(b.Load(S, {b.Iter(0)}), b.Load(T, {b.Iter(1)})));
  Schedule s = Scheduled(b.Finish());
  const Loop both = s.Merge(s.GetLoops(s.GetBlock("s"))[0], s.GetLoops(s.GetBlock("t"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  s.ReverseComputeAt(s.GetBlock("c"), both);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("it would not combine all parts with all others"));
}

TEST(ReverseComputeAt, RefusesToReadASumThatLaterIterationsComplete) {
  EXPECT_THAT(
      std::string(
          Moved("for i < 4 { for h < 4 { for j < 4 { block table { reduction i < 4 = i  spatial h < 4 = h  "
                "spatial j < 4 = j\nT[h, j] sum= X[h, j, i] } } }\n"
                "for j < 4 { block row { spatial i < 4 = i  spatial j < 4 = j  V[i, j] = X[i, j, 1] } } }",
                "T[i, j]", "V")
              .status()
              .message()),
      HasSubstr(
          "block \"last\" reads more of T than block \"table\" has written in one iteration of loop i"));
}

}  // namespace
}  // namespace kiln
