// Tests RematerializeLoads, which changes loops that use more loaded values than there are registers: the code loads
// each value again where it is used, instead of keeping all of them in registers.
#include "backends/lower/rematerialize_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

// Returns a matrix product with the loop over k unrolled inside the loop over j, so that the k elements of A that it
// loads are the same in each iteration of j.
Program RowsWrittenOut(int64_t k) {
  Schedule s = Scheduled(Matmul(3, 4, k));
  s.Unroll(s.GetLoops(s.GetBlock("matmul"))[2]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(RematerializeLoads, PinsMoreLoadsThanThereAreRegisters) {
  EXPECT_EQ(Count(ModuleText(RowsWrittenOut(16)), "llvm.inline_asm"), 0);
  EXPECT_EQ(Count(ModuleText(RowsWrittenOut(17)), "llvm.inline_asm"), 1);
}

// A product whose loop over j updates 20 sums in memory. Tests that their loads are left alone, since the loop stores
// to this memory, so that LLVM can keep the sums in registers.
TEST(RematerializeLoads, LeavesWhatTheLoopStoresTo) {
  Schedule s = Scheduled(Matmul(20, 4, 8));
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  s.Reorder({loops[2], loops[0], loops[1]});
  s.Unroll(loops[0]);
  s.Unroll(loops[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ModuleText(s.program());
  EXPECT_EQ(Count(text, "llvm.inline_asm"), 0);
  EXPECT_GE(Count(text, "memref.load"), 80);
}

TEST(RematerializeLoads, ChangesNoResult) {
  const Program p = RowsWrittenOut(40);
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto a = Random<float>(3 * 40, 1), b = Random<float>(40 * 4, 2);
  Array<float> c(3 * 4);
  EXPECT_EQ(CallKernel(*loaded, "matmul", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      float sum = 0;
      for (int k = 0; k < 40; ++k) sum += a[i * 40 + k] * b[k * 4 + j];
      EXPECT_EQ(c[i * 4 + j], sum) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace kiln
