// Tests that the loop plans of random programs compute the same as the programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "backends/lower/passes/plan_loops.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "lang/analysis/lowerable.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "tests/support/random_steps.h"
#include "tests/support/repeats.h"
#include "tests/support/values.h"
#include "validator/validate.h"

namespace kiln {
namespace {

TEST(LoopPlan, ComputesWhatRandomProgramsDo) {
  int planned = 0;
  for (uint64_t seed = 1; seed <= Repeats(3000); ++seed) {
    RandomDice dice(Engine({seed, 79}));
    State state;
    state.program = RandomProgram(dice, {.types = true});
    const std::vector<std::string> inputs = RandomInputs(state.program, dice);
    const auto wanted = kiln::Run(state.program, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    TryRandomSteps(state, 20, dice);
    if (!Validate(state.program, Target()).ok) continue;
    ++planned;
    const plan::Planned made = plan::PlanLoops(state.program, {});
    const auto got = RunPlan(made.program, made.plan, inputs, {.shuffle = seed});
    ASSERT_TRUE(got.ok()) << seed << ": " << got.status() << "\n"
                          << ToString(made.program) << ToString(made.program, made.plan);
    ASSERT_EQ(*got, *wanted) << seed << "\n" << ToString(made.program) << ToString(made.program, made.plan);
  }
  EXPECT_GT(planned, Repeats(1000));
}

// Lanes 2*n and 2*n + 1 of a vectorized loop both compute sum[n] = Σ_r in[n, r]. The plan adds each term once: each
// lane adds a term to the value that was there before the lanes.
TEST(LoopPlan, LanesThatShareAnElementAddATermOnce) {
  const auto program = ParseProgram(R"(kiln.program v1
program pairs
parameters in, sum
buffer in: i32[2, 3] input
buffer sum: i32[2] output

for i < 4 vectorized {
  block zero {
    spatial n < 2 = i/2
    sum[n] = i32(0)
  }
  for r < 3 {
    block sum {
      spatial n < 2 = i/2
      reduction r < 3 = r
      sum[n] accumulate sum= in[n, r]
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  const plan::Planned made = plan::PlanLoops(*program, {});
  const std::vector<int32_t> in = {1, 10, 100, 2, 20, 200}, sum = {111, 222};
  const auto got = RunPlan(made.program, made.plan, {BytesOfValues(in)}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, testing::ElementsAre(BytesOfValues(sum)));
}

}  // namespace
}  // namespace kiln
