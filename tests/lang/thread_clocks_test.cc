// Tests the vector clocks that judge plans of synchronization (testing/threads/thread_clocks.h).
#include "testing/threads/thread_clocks.h"

#include "gmock/gmock.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "tests/lang/restricted.h"
#include "tests/support/sync_plan_of.h"

namespace kiln {
namespace {

// Thread i uses T[i, r + j - 1], which may lie beyond its row but is never an element of another thread's row. Expects
// no synchronization points and no race.
TEST(ThreadClocks, ElementsBeyondARowAreNotThoseOfTheNextRow) {
  const auto program = ParseProgram(R"(kiln.program v1
program window
parameters X, Y
buffer X: f32[2, 2] input
buffer T: f32[2, 2] temporary
buffer Y: f32[2, 3] output

for r < 2 {
  for i < 2 thread-y {
    for j < 3 {
      block row {
        spatial i < 2 = i
        spatial k < 2 = r + j - 1
        T[i, k] = X[i, k]
      }
      block use {
        spatial i < 2 = i
        spatial j < 3 = j
        reduction r < 2 = r
        Y[i, j] max= within((j + r - 1 < 2), T[i, j + r - 1], f32(0))
      }
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(PlanOf(*program).points.empty());
  EXPECT_EQ(CheckThreadClocks(*program, PlanOf(*program)), absl::OkStatus());
}

// Checks that the thread clocks refuse a program whose second kernel reads what the first one wrote, unless the buffer
// is in global memory. CheckOwners (lang/analysis/owners.cc) refuses such programs, too.
TEST(ThreadClocks, MemoryEndsWithItsKernel) {
  for (const auto& [storage, ends] : std::vector<std::pair<Storage, bool>>{{Storage::kShared, true},
                                                                           {Storage::kRegister, true},
                                                                           {Storage::kWarp, true},
                                                                           {Storage::kGlobal, false}}) {
    Program p = InTwoKernels().program();
    for (Buffer& buffer : p.buffers)
      if (buffer.role == Role::kTemporary) buffer.scope = ScopeOf(storage);
    const absl::Status status = CheckThreadClocks(p, PlanOf(p));
    EXPECT_EQ(std::string(status.message()),
              ends ? "block \"use\" uses buffer T, which ended with the kernel of block \"make\"" : "");
  }
}

}  // namespace
}  // namespace kiln
