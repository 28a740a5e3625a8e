// Tests CheckUnscheduled, which tells modules which blocks to leave alone: those whose instances a loop runs again.
#include "modules/unscheduled.h"

#include "gmock/gmock.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

TEST(Untouched, IsNoBlockWhoseInstancesRunAgain) {
  const auto program = ParseProgram(R"(kiln.program v1
program twice
parameters a, b, c
buffer a: f32[4, 8] input
buffer b: f32[8, 16] input
buffer c: f32[4, 16] output
for again < 2 {
  for i < 4 {
    for j < 16 {
      for k < 8 {
        block matmul {
          spatial i < 4 = i
          spatial j < 16 = j
          reduction k < 8 = k
          c[i, j] sum= a[i, k]*b[k, j]
        }
      }
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(CheckUnscheduled(*program, Blocks(*program)[0]).message(),
            "loop again runs the same instances again");
}

}  // namespace
}  // namespace kiln
