#include "backends/measure/undisturbed.h"

#include <gtest/gtest.h>

#include "backends/workers/scratch_folder.h"

namespace kiln {
namespace {

TEST(Undisturbed, IsTheLeastThatAnyoneSawOfAKernel) {
  const auto folder = ScratchFolder::Make().value();
  Undisturbed first("a kernel", folder->path());
  EXPECT_FALSE(first.IsKnown());
  first.Saw(3e-6);
  first.Saw(2e-6);
  first.Saw(4e-6);
  EXPECT_EQ(first.seconds(), 2e-6);
  EXPECT_EQ(Undisturbed("a kernel", folder->path()).seconds(), 2e-6);
  EXPECT_FALSE(Undisturbed("another kernel", folder->path()).IsKnown());
  EXPECT_FALSE(Undisturbed("a kernel", "").IsKnown());
}

}  // namespace
}  // namespace kiln
