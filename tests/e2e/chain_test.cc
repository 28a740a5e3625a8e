// Tests everything from file to export without a search: an MLIR file is imported, scheduled by hand, built, run,
// compared with the untransformed program, and exported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "backends/export/export.h"
#include "backends/import/import.h"
#include "backends/measure/measurer.h"
#include "lang/text/text.h"
#include "test_paths.h"
#include "tests/e2e/hand_written_matmul.h"

namespace kiln {
namespace {

double Fastest(const MeasureResult& result) {
  return *std::min_element(result.samples.begin(), result.samples.end());
}

TEST(Chain, AHandWrittenScheduleIsRight) {
  const auto imported = ImportFile(std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir");
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Program& original = imported->program;

  const std::string build = KILN_BUILD_DIR;
  auto measurer =
      CpuMeasurer::Start({.builder_path = build + "/kiln-builder", .runner_path = build + "/kiln-runner"});
  ASSERT_TRUE(measurer.ok()) << measurer.status();

  const Program scheduled = HandWritten(original, measurer->target());
  ASSERT_TRUE(Verify(scheduled).ok()) << Verify(scheduled);

  const auto results = measurer->Measure(std::vector<MeasureRequest>{
      {.original = &original, .scheduled = &original}, {.original = &original, .scheduled = &scheduled}});
  ASSERT_TRUE(results[0].ok()) << results[0].error;
  ASSERT_TRUE(results[1].ok()) << results[1].error << "\n" << ToString(scheduled);
  EXPECT_TRUE(results[1].verified);
  const double gflops = 2.0 * 512 * 512 * 512 / Fastest(results[1]) * 1e-9;
  std::printf("  untransformed %.1f ms, scheduled %.2f ms, %.1f GFLOP/s\n", 1e3 * Fastest(results[0]),
              1e3 * Fastest(results[1]), gflops);

  const std::string folder = testing::TempDir() + "kiln-chain";
  const auto exported = Export(scheduled, original.name, folder, measurer->builders());
  EXPECT_TRUE(exported.ok()) << exported.status();
}

}  // namespace
}  // namespace kiln
