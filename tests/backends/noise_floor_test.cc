#include "backends/measure/noise_floor.h"

#include <gtest/gtest.h>

#include "backends/workers/scratch_folder.h"

namespace kiln {
namespace {

TEST(NoiseFloor, IsTheLeastThatAnyoneSawOfAKernel) {
  const auto folder = ScratchFolder::Make().value();
  NoiseFloor first("a kernel", folder->path());
  EXPECT_FALSE(first.IsKnown());
  first.Saw(3e-6);
  first.Saw(2e-6);
  first.Saw(4e-6);
  EXPECT_EQ(first.seconds(), 2e-6);
  EXPECT_EQ(NoiseFloor("a kernel", folder->path()).seconds(), 2e-6);
  EXPECT_FALSE(NoiseFloor("another kernel", folder->path()).IsKnown());
  EXPECT_FALSE(NoiseFloor("a kernel", "").IsKnown());
}

}  // namespace
}  // namespace kiln
