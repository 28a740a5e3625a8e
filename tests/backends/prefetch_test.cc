// Tests that compiled code with prefetch instructions computes the same results. tests/lower/plans/prefetch_*.txt show
// what is prefetched.
#include <gtest/gtest.h>

#include <cmath>

#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

constexpr int kRows = 8, kColumns = 64;

// Returns the program e[i, j] = exp(x[i, j]);  y[i, j] = 2 * e[i, j], where both blocks are in one loop over the rows
// i.
Program Rows() {
  Builder b("rows");
  const Id x = b.Input("x", DType::kF32, {kRows, kColumns}),
           y = b.Output("y", DType::kF32, {kRows, kColumns});
  const Id e = b.Temporary("e", DType::kF32, {kRows, kColumns});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("first", {{"i", kRows}, {"j", kColumns}}, {e, {i, j}},
            b.Make(Op::kExp, DType::kF32, b.Load(x, {i, j})));
  b.Compute("second", {{"i", kRows}, {"j", kColumns}}, {y, {i, j}},
            b.Mul(b.Load(e, {i, j}), b.Float(DType::kF32, 2)));
  Schedule s = Scheduled(b.Finish());
  s.ComputeAt(s.GetBlock("first"), s.GetLoops(s.GetBlock("second"))[0]);
  s.VectorizeInner(32);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(Prefetch, ResultsStay) {
  const auto code = BuildProgram(Rows(), {.stream_bytes = 1});
  ASSERT_TRUE(code.ok()) << code.status();
  auto in = Random<float>(kRows * kColumns, 1);
  Array<float> out(kRows * kColumns, 99.f);
  EXPECT_EQ(CallKernel(*code, "rows", {in.data(), out.data()}), 0);
  for (int n = 0; n < kRows * kColumns; ++n) ASSERT_NEAR(out[n], 2 * std::exp(in[n]), 1e-5);
}

}  // namespace
}  // namespace kiln
