// Tests kernels in which buffers that are not alive at the same time share memory (lang/threads/shared_places.h):
// results are right, addresses are equal, and a buffer that overwrites one still in use is found.
#include <gtest/gtest.h>

#include "testing/stages.h"
#include "tests/gpu/injections.h"

namespace kiln {
namespace {

int64_t OffsetOf(const plan::Planned& planned, const char* buffer) {
  return planned.plan.indices.buffers[BufferCalled(planned.program, buffer)].offset;
}

TEST(SharedPlacesOnGpu, TakeNoMemoryOfTheirOwn) {
  const Program program = Stages(3, 64);
  const Schedule s = InStages(program, 64);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameOnGpu(program, s.program());
  const auto planned = plan::PlanKernels(s.program());
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(OffsetOf(*planned, "S"), OffsetOf(*planned, "U"));
  EXPECT_NE(OffsetOf(*planned, "S"), OffsetOf(*planned, "T"));
}

TEST(SharedPlacesOnGpu, ABufferInAPlaceThatIsTakenIsFound) {
  const Program program = Stages(3, 64);
  const Injection injections[] = {
      {"a buffer lies where another one is read", kResults | kClocks,
       [](plan::Planned& p) {
         p.plan.indices.buffers[BufferCalled(p.program, "T")].offset = OffsetOf(p, "S");
         return true;
       }},
  };
  ExpectFound(program, InStages(program, 64), injections);
}

}  // namespace
}  // namespace kiln
