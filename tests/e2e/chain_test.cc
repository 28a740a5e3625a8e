// The chain without a search: a file is imported, scheduled by hand, built, run, compared and exported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "backends/cpu/measurer.h"
#include "backends/export/export.h"
#include "backends/import/import.h"
#include "lang/chooser.h"
#include "lang/schedule.h"
#include "lang/text.h"
#include "test_paths.h"

namespace kiln {
namespace {

// A tiled and packed product with a register tile of 4 x 16, accumulated over blocks of k.
void TileMatmul(Schedule& s) {
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split<3>(loops[0], {kAuto, 8, 4});
  const auto j = s.Split<3>(loops[1], {kAuto, 4, 16});
  const auto k = s.Split<2>(loops[2], {kAuto, 64});
  s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2]});
  const auto out = s.GetLoops(s.AccumulateAt(matmul, j[1]));
  s.Vectorize(out[out.size() - 1]);
  s.Unroll(out[out.size() - 2]);
  const Block pack = s.CacheRead(matmul, 1);
  s.ComputeAt(pack, k[0]);
  s.Unroll(i[2]);
  s.Vectorize(j[2]);
}

double Fastest(const MeasureResult& result) {
  return *std::min_element(result.samples.begin(), result.samples.end());
}

TEST(Chain, AHandWrittenScheduleIsRightAndFaster) {
  const auto imported = ImportFile(std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir");
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Program& original = imported->program;

  const std::string build = KILN_BUILD_DIR;
  auto measurer =
      CpuMeasurer::Start({.builder_path = build + "/kiln-builder", .runner_path = build + "/kiln-runner"});
  ASSERT_TRUE(measurer.ok()) << measurer.status();

  RandomDice dice(Engine({1, 1}));
  RandomChooser chooser(dice);
  Schedule schedule(original, measurer->target(), chooser);
  TileMatmul(schedule);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const Program scheduled = schedule.program();
  ASSERT_TRUE(Verify(scheduled).ok()) << Verify(scheduled);

  const auto results = measurer->Measure(std::vector<MeasureRequest>{
      {.original = &original, .scheduled = &original}, {.original = &original, .scheduled = &scheduled}});
  ASSERT_TRUE(results[0].ok()) << results[0].error;
  ASSERT_TRUE(results[1].ok()) << results[1].error << "\n" << ToString(scheduled);
  EXPECT_TRUE(results[1].verified);
  const double gflops = 2.0 * 512 * 512 * 512 / Fastest(results[1]) * 1e-9;
  std::printf("  untransformed %.1f ms, scheduled %.2f ms, %.1f GFLOP/s\n", 1e3 * Fastest(results[0]),
              1e3 * Fastest(results[1]), gflops);
  EXPECT_GT(Fastest(results[0]), 5 * Fastest(results[1]));

  const std::string folder = testing::TempDir() + "kiln-chain";
  const auto exported = Export(scheduled, original.name, folder, measurer->builders());
  EXPECT_TRUE(exported.ok()) << exported.status();
}

}  // namespace
}  // namespace kiln
