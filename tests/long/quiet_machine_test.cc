// What only a quiet machine shows: times of two runs are compared.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu/measurer.h"
#include "tests/backends/workers.h"
#include "tests/support/programs.h"

namespace kiln {
namespace {

double Fastest(bool cold, const Program& program) {
  auto measurer = CpuMeasurer::Start({.cold_cache = cold,
                                      .builder_path = ProgramPath("kiln-builder"),
                                      .runner_path = ProgramPath("kiln-runner")});
  EXPECT_TRUE(measurer.ok()) << measurer.status();
  const std::vector<MeasureRequest> requests = {
      {.original = &program, .scheduled = &program, .thorough = true}};
  const MeasureResult result = measurer->Measure(requests)[0];
  EXPECT_TRUE(result.ok()) << result.error;
  return *std::min_element(result.samples.begin(), result.samples.end());
}

TEST(QuietMachine, FindsNothingInColdCaches) {
  const Program program = Affine(1 << 13);
  EXPECT_GT(Fastest(true, program), 1.2 * Fastest(false, program));
}

}  // namespace
}  // namespace kiln
