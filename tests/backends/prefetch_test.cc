// Tests prefetches (emit_prefetch.h): which loads prefetch what, and that results do not change.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/codegen/context.h"
#include "backends/lower/lower.h"
#include "lang/program/builder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "testing/compiled/run_program.h"
#include "testing/goto_matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

constexpr int kRows = 8, kColumns = 64;

// e[i, j] = exp(x[i, j]), y[i, j] = 2 * e[i, j], row by row.
Program Rows(Op function) {
  Builder b("rows");
  const Id x = b.Input("x", DType::kF32, {kRows, kColumns}),
           y = b.Output("y", DType::kF32, {kRows, kColumns});
  const Id e = b.Temporary("e", DType::kF32, {kRows, kColumns});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("first", {{"i", kRows}, {"j", kColumns}}, {e, {i, j}},
            b.Make(function, DType::kF32, b.Load(x, {i, j})));
  b.Compute("second", {{"i", kRows}, {"j", kColumns}}, {y, {i, j}},
            b.Mul(b.Load(e, {i, j}), b.Float(DType::kF32, 2)));
  Schedule s = Scheduled(b.Finish());
  s.ComputeAt(s.GetBlock("first"), s.GetLoops(s.GetBlock("second"))[0]);
  s.VectorizeInner(32);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

struct Lines {
  int loaded = 0, stored = 0;
};

Lines Prefetched(const Program& program, int64_t stream_bytes) {
  auto module = Lower(program, Context(), {.stream_bytes = stream_bytes});
  EXPECT_TRUE(module.ok()) << module.status();
  Lines lines;
  (*module)->walk([&](mlir::memref::PrefetchOp op) { ++(op.getIsWrite() ? lines.stored : lines.loaded); });
  return lines;
}

TEST(Prefetch, BlocksThatComputeMuchFetchTheNextRowAndWhatOthersStoreTo) {
  const Lines lines = Prefetched(Rows(Op::kExp), kRows * kColumns * 4);
  EXPECT_EQ(lines.loaded, 2);
  EXPECT_EQ(lines.stored, 2);
}

TEST(Prefetch, SmallBuffersAndCheapBlocksNeedNone) {
  for (const auto& [function, bytes] :
       {std::pair{Op::kExp, kRows * kColumns * 4 + 1}, {Op::kExp, 0}, {Op::kNeg, 1}}) {
    const Lines lines = Prefetched(Rows(function), bytes);
    EXPECT_EQ(lines.loaded + lines.stored, 0);
  }
}

TEST(Prefetch, TilesOfResultsAreFetchedBeforeTheSumsThatAreAddedToThem) {
  const Program tiles = GotoMatmul(32, 64, 48, {8, 4, 32, 16, 16}, false);  // of 4 x 16
  EXPECT_EQ(Prefetched(tiles, 32 * 64 * 4).stored, 4);
  EXPECT_EQ(Prefetched(tiles, 32 * 64 * 4 + 1).stored, 0);
}

// Two tiles of 4 x 16 read a panel of 16 x 16 elements (16 cache lines), so each prefetches half of the next
// panel.
TEST(Prefetch, TilesFetchTheNextPanelInParts) {
  const Program tiles = GotoMatmul(32, 64, 48, {8, 4, 32, 16, 16}, true);
  EXPECT_EQ(Prefetched(tiles, 16 * 32 * 4).loaded, 8);
  EXPECT_EQ(Prefetched(tiles, 16 * 32 * 4 + 1).loaded, 0);
}

TEST(Prefetch, ResultsStay) {
  const auto code = BuildProgram(Rows(Op::kExp), {.stream_bytes = 1});
  ASSERT_TRUE(code.ok()) << code.status();
  auto in = Random<float>(kRows * kColumns, 1);
  Array<float> out(kRows * kColumns, 99.f);
  EXPECT_EQ(CallKernel(*code, "rows", {in.data(), out.data()}), 0);
  for (int n = 0; n < kRows * kColumns; ++n) ASSERT_NEAR(out[n], 2 * std::exp(in[n]), 1e-5);
}

}  // namespace
}  // namespace kiln
