// Tests where decompose-reduction may put the initialization of a reduction: not before another block that writes the
// result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

TEST(DecomposeReduction, RefusesToPassAnotherWriterOfTheResult) {
  const auto program = ParseProgram(R"(kiln.program v1
program twice
parameters A, B
buffer A: f32[4, 4] input
buffer B: f32[4] output
for i < 4 {
  for k < 4 { block first { spatial i < 4 = i  reduction k < 4 = k  B[i] sum= A[i, k] } }
  for k < 4 { block second { spatial i < 4 = i  reduction k < 4 = k  B[i] max= A[i, k] } }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  Schedule inner = Scheduled(*program), outer = Scheduled(*program);
  const Block second = inner.GetBlock("second");
  inner.DecomposeReduction(second, inner.GetLoops(second)[1]);
  ASSERT_TRUE(inner.ok()) << inner.status();
  ExpectSameResults(*program, inner.program());

  outer.DecomposeReduction(outer.GetBlock("second"), outer.GetLoops(outer.GetBlock("second"))[0]);
  EXPECT_THAT(Refusal(outer), testing::HasSubstr("block \"first\", below loop i, uses B too"));
}

}  // namespace
}  // namespace kiln
