// Tests that the space of CPUs packs only operands that some loop reads again as a whole: the weights of a depthwise
// convolution, and not its input. tests/modules/cases/tiling has examples of sketches with packed operands.
#include <gtest/gtest.h>

#include "lang/analysis/access.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/text.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

TEST(PackOperands, LeavesAnOperandThatOnlyWindowsReadAgain) {
  const auto program = ParseProgram(R"(kiln.program v1
program depthwise
parameters x, w, y
buffer x: f32[8, 34] input
buffer w: f32[8, 3] input
buffer y: f32[8, 32] output

for h < 32 {
  for c < 8 {
    for k < 3 {
      block sum {
        spatial h < 32 = h
        spatial c < 8 = c
        reduction k < 3 = k
        y[c, h] sum= x[c, h + k]*w[c, k]
      }
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  const Id sum = Blocks(*program)[0];
  EXPECT_FALSE(IsReusedWhole(*program, sum, AccessOf(*program, sum, 0)));  // no loop reads all of x again
  EXPECT_TRUE(IsReusedWhole(*program, sum, AccessOf(*program, sum, 1)));   // each h reads all of w
  const std::string sketches = SketchesText("cpu", *program);
  EXPECT_EQ(sketches.find("cache-read b0 storage"), std::string::npos) << sketches;
  EXPECT_NE(sketches.find("cache-read b0 operand=1"), std::string::npos) << sketches;
}

}  // namespace
}  // namespace kiln
