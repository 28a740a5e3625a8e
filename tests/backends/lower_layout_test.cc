// Tests compiled CPU code for buffers with swizzled layouts, for fragments, and for pipelined loops: results equal the
// interpreter's.
#include <gtest/gtest.h>

#include "lang/schedule/schedule.h"
#include "testing/compiled/run_program.h"
#include "tests/lang/restricted.h"

namespace kiln {
namespace {

// Returns the program T[i, j] = A[i, j] + 1;  C[j, i] = T[i, j] * 2, where all buffers have 16 by 16 elements.
Program Transposed() {
  Builder b("transposed");
  const Id A = b.Input("A", DType::kF32, {16, 16}), C = b.Output("C", DType::kF32, {16, 16}),
           T = b.Temporary("T", DType::kF32, {16, 16});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  const Id load = b.Load(A, {i, j});
  b.Compute("make", {{"i", 16}, {"j", 16}}, {T, {i, j}}, b.Add(load, b.Float(DType::kF32, 1)));
  b.Compute("use", {{"j", 16}, {"i", 16}}, {C, {i, j}}, b.Mul(b.Load(T, {j, i}), b.Float(DType::kF32, 2)));
  return b.Finish();
}

void ExpectTransposed(Schedule& s) {
  ASSERT_TRUE(s.ok()) << s.status();
  const auto loaded = BuildProgram(s.program());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Array<float> a(256), c(256);
  for (int n = 0; n < 256; ++n) a[n] = static_cast<float>(n);
  ASSERT_EQ(CallKernel(*loaded, "transposed", {a.data(), c.data()}), 0);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) EXPECT_EQ(c[j * 16 + i], 2 * (a[i * 16 + j] + 1)) << i << " " << j;
  }
}

class Swizzles : public testing::TestWithParam<int> {
 protected:
  Swizzle swizzle() const {
    return GetParam() == 0 ? Swizzle{4, 0, 3} : GetParam() == 1 ? Swizzle{4, 2, 2} : Swizzle{0, 4, 2};
  }
  Schedule s = Scheduled(Transposed());
  Block make = s.GetBlock("make"), use = s.GetBlock("use");
  void Lay() { s.TransformLayout(make, -1, "(i, j) -> (i, j)", swizzle()); }
};

TEST_P(Swizzles, ScalarsFindTheirAddresses) {
  Lay();
  ExpectTransposed(s);
}

TEST_P(Swizzles, LanesFindTheirAddresses) {
  Lay();
  s.Vectorize(s.Split(s.GetLoops(make)[1], {2, 8})[1]);
  s.Vectorize(s.Split(s.GetLoops(use)[1], {2, 8})[1]);
  ExpectTransposed(s);
}

TEST_P(Swizzles, LanesOfIncompleteTilesFindTheirAddresses) {
  Lay();
  s.Vectorize(s.Split(s.GetLoops(make)[1], {kAuto, 6})[1]);
  s.Vectorize(s.Split(s.GetLoops(use)[1], {kAuto, 12})[1]);
  s.Unroll(s.GetLoops(use)[0]);
  ExpectTransposed(s);
}

TEST_P(Swizzles, BuffersThatAreUsedBelowALoopKeepEnoughMemory) {
  Lay();
  s.ComputeAt(make, s.GetLoops(use)[0]);  // computes a column at a time
  ExpectTransposed(s);
}

INSTANTIATE_TEST_SUITE_P(All, Swizzles, testing::Values(0, 1, 2));

TEST(Lower, FragmentsAreMemory) {
  Schedule s = Scheduled(Transposed());
  s.SetScope(s.GetBlock("make"), "warp");
  s.TransformLayout(s.GetBlock("make"), -1, "(i, j) -> (i%8, j%4, i/8, j/4)",
                    "lane, lane, register, register");
  ExpectTransposed(s);
}

TEST(Lower, RunsTheChildrenOfAPipelineInTurn) {
  Schedule s = Scheduled(Fed());
  const Block sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(s.GetBlock("load"), loops[1]);
  s.Pipeline(loops[1], {.stages = {0, 2}, .transport = "async", .producers = {0}});
  ASSERT_TRUE(s.ok()) << s.status();
  const auto loaded = BuildProgram(s.program());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Array<float> a(48), c(8);
  for (int n = 0; n < 48; ++n) a[n] = static_cast<float>(n);
  ASSERT_EQ(CallKernel(*loaded, "fed", {a.data(), c.data()}), 0);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(c[i], 6 * i + 8 * (0 + 1 + 2 + 3 + 4 + 5));
}

}  // namespace
}  // namespace kiln
