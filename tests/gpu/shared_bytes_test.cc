// Tests that no kernel takes more shared memory than the validator's check gpu-shared counts: in draws of the space
// `cuda` for operators of real sizes, and in random tiles of products. kiln_lower_fuzz --gpu tests random programs.
#include <gtest/gtest.h>

#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"
#include "modules/space.h"
#include "test_paths.h"
#include "tests/support/random_tiles.h"
#include "tests/support/shared_bytes.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

// Expects that no kernel of the program takes more shared memory than the check gpu-shared counts. Returns the number
// of kernels; 0 if the program cannot be planned.
size_t Compare(const Program& scheduled) {
  const auto planned = plan::PlanKernels(scheduled);
  if (!planned.ok()) return 0;
  EXPECT_EQ(MoreSharedThanCounted(scheduled, *planned), "");
  return SharedOfKernels(scheduled, *planned).size();
}

size_t DrawFromSpace(const Program& program, uint64_t draws) {
  const Target target = NamedTarget("h100").value();
  const auto sketches = Enumerate(*ParseSpace("cuda"), program, target);
  EXPECT_TRUE(sketches.ok()) << sketches.status();
  size_t kernels = 0;
  for (uint64_t draw = 0; draw < draws; ++draw) {
    RandomDice dice(Engine({1, draw}));
    RandomChooser chooser(dice);
    const Trace& trace = sketches->sketches[draw % sketches->sketches.size()].trace;
    const auto replayed = Replay(trace, program, target, chooser);
    if (!replayed.ok()) continue;
    SCOPED_TRACE(absl::StrCat("draw ", draw, "\n", Print(WithDecisions(*replayed))));
    kernels += Compare(replayed->program());
  }
  return kernels;
}

// Draws 40 schedules of each of 12 operators. FDN0 and FDN1 are among them since their sizes are multiples of three, so
// that the vectors of a copy often do not divide the part of the operand that is copied.
TEST(SharedBytes, AreCountedInDrawsOfTheSpace) {
  for (const char* name :
       {"FDN0", "FDN1", "GMM1", "TBG0", "C1D0", "C2D1", "C3D0", "DIL1", "T2D1", "CAP0", "SFM1", "NRM0"}) {
    SCOPED_TRACE(name);
    const auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/bench/operators/", name, ".mlir"));
    ASSERT_TRUE(imported.ok()) << imported.status();
    const auto tasks = ExtractTasks(imported->program);
    ASSERT_TRUE(tasks.ok()) << tasks.status();
    EXPECT_GE(DrawFromSpace(tasks->front().program, 40), 40);
  }
}

TEST(SharedBytes, AreCountedInRandomTiles) {
  size_t kernels = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomDice dice(Engine({seed, 5}));
    const RandomTiles tiles = DrawTiles(dice);
    if (tiles.schedule.ok()) kernels += Compare(tiles.schedule.program());
  }
  EXPECT_GT(kernels, 250);
}

}  // namespace
}  // namespace kiln
