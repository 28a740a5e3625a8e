// Tests that plans of random tiled products for GPUs compute what the product does. The interpreter of plans runs them,
// and finds races, missing waits and elements that are read too early.
#include <gtest/gtest.h>

#include "backends/lower/kernels/plan_kernels.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "tests/support/random_tiles.h"

namespace kiln {
namespace {

TEST(GpuTilePlans, ComputeTheProduct) {
  constexpr uint64_t kSeeds = 40;
  uint64_t ran = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomDice dice(Engine({seed, 81}));
    const RandomTiles drawn = DrawTiles(dice);
    if (!drawn.schedule.ok()) continue;
    SCOPED_TRACE(seed);
    const auto planned = plan::PlanKernels(drawn.schedule.program());
    ASSERT_TRUE(planned.ok()) << planned.status() << ToString(drawn.schedule.program());
    ++ran;
    const std::vector<std::string> inputs = RandomInputs(drawn.program, dice);
    const auto wanted = kiln::Run(drawn.program, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    const auto found = RunPlan(planned->program, planned->plan, inputs, {.shuffle = seed});
    ASSERT_TRUE(found.ok()) << found.status() << ToString(planned->program, planned->plan);
    ASSERT_EQ(*found, *wanted) << ToString(planned->program, planned->plan);
  }
  EXPECT_GT(2 * ran, kSeeds);
}

}  // namespace
}  // namespace kiln
