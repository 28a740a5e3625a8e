// Tests that Parallel refuses loops whose iterations use what other iterations write.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Message(const Schedule& s) {
  EXPECT_EQ(s.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(s.status().message());
}

TEST(Parallel, RefusesToReadWhatAnotherIterationWrites) {
  // Refuses to run loop i in parallel, whose iterations read what others write to t, a temporary or an output:
  //    for i < 8: { t[i] = A[i];  B[i] = i > 0 ? t[i - 1] : 0 }
  for (const bool output : {false, true}) {
    Builder b("beside");
    const Id A = b.Input("A", DType::kF64, {8}), t = b.Temporary("t", DType::kF64, {8}),
             B = b.Output("B", DType::kF64, {8});
    const IndexSum i = b.Iter(0), before = i + IndexSum::Constant(-1);
    b.Compute("make", {{"i", 8}}, {t, {i}}, b.Load(A, {i}));
    b.Compute("use", {{"i", 8}}, {B, {i}},
              b.Within({{before, 8}}, b.Load(t, {before}), b.Float(DType::kF64, 0)));
    if (output) b.MakeOutput(t);
    Schedule s = Scheduled(b.Finish());
    const Loop merged = s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("use"))[0]);
    ASSERT_TRUE(s.ok()) << s.status();
    s.Parallel(merged);
    EXPECT_THAT(Message(s), HasSubstr("iterations of loop i read of t what other iterations write"));
  }
}

// Refuses to run loop i in parallel: an iteration overwrites a part of row i - 1 of T, which the iteration before has
// written, and then reads the whole row.
TEST(Parallel, RefusesToReadWhatAnotherIterationWritesInPart) {
  Schedule s = Scheduled(ParseProgram(R"(kiln.program v1
program parts
parameters A, B, Y
buffer A: f32[8, 8] input
buffer B: f32[8, 4] input
buffer Y: f32[8, 8] output
buffer T: f32[8, 8] temporary
for i < 8 {
  for j < 8 { block row { spatial a < 8 = i spatial c < 8 = j T[a, c] = A[a, c] } }
  for k < 4 { block part { spatial a < 8 = i - 1 spatial c < 4 = k T[a, c] = B[a, c] } }
  for l < 8 { block use { spatial a < 8 = i - 1 spatial c < 8 = l Y[a, c] = T[a, c] } }
}
)")
                             .value());
  s.Parallel(s.GetLoops(s.GetBlock("row"))[0]);
  EXPECT_THAT(Message(s), HasSubstr("iterations of loop i read of T what other iterations write"));
}

// `parallel` refuses loop j. All iterations of j write the same element of T, and the next iteration of loop i reads
// it. So the iterations of j cannot have private copies of T.
TEST(Parallel, RefusesWhatALoopAroundCarriesInElementsOfAllIterations) {
  Schedule s = Scheduled(ParseProgram(R"(kiln.program v1
program carried
parameters A, Y
buffer A: f32[8, 4] input
buffer Y: f32[8, 4] output
buffer T: f32[8] temporary
for i < 8 {
  for j < 4 {
    block keep { spatial a < 8 = i T[a] = A[a, 0] }
    block use { spatial a < 8 = i spatial c < 4 = j Y[a, c] = within((a - 1 < 8), T[a - 1], f32(0)) }
  }
}
)")
                             .value());
  s.Parallel(s.GetLoops(s.GetBlock("use"))[1]);
  EXPECT_THAT(Message(s), HasSubstr("writes T, which does not depend on loop j and is used outside of it"));
}

}  // namespace
}  // namespace kiln
