// Tests schedules for a GPU whose innermost tiles are calls of a matrix instruction on fragments: owners,
// pipelines with calls, and the primitives call and swizzle-lines.
#include "gmock/gmock.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/lowerable.h"
#include "lang/program/builder.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr PipelineOrder kOrders[] = {PipelineOrder::kInTurn, PipelineOrder::kRandom};

// Returns the program C[i, j] sum= f32(A[i, k]) * f32(B[k, j]), of f16.
Program HalfMatmul(int64_t m, int64_t n, int64_t k) {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF16, {m, k}), B = b.Input("B", DType::kF16, {k, n}),
           C = b.Output("C", DType::kF32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Cast(DType::kF32, b.Load(A, {i, l})), b.Cast(DType::kF32, b.Load(B, {l, j}))));
  return b.Finish();
}

// A schedule of a matmul of 64 x 64 x 64 for a GPU with matrix instructions: a thread block computes 32 by 64 elements
// in steps of 32 along k, and each of its four warps 16 by 32. Operands are copied to shared memory and from there to
// fragments. MakeCalls replaces the innermost tiles by calls of the matrix instruction.
struct WarpTiles {
  WarpTiles() {
    const auto loops = s.GetLoops(product);
    const auto m = s.Split(loops[0], {kAuto, 2, 16}), n = s.Split(loops[1], {kAuto, 2, 32}),
               k = s.Split(loops[2], {kAuto, 2, 16});
    s.Reorder({m[0], n[0], k[0], m[1], n[1], k[1], m[2], n[2], k[2]});
    const Loop grid = s.Fuse({m[0], n[0]}), warps = s.Fuse({m[1], n[1]});
    s.Bind(grid, LoopKind::kBlockX);
    step = k[0];
    for (const int operand : {0, 1}) {
      copies.push_back(s.CacheRead(product, operand, "shared"));
      s.ComputeAt(copies.back(), step);
    }
    for (const int operand : {0, 1}) {
      loads.push_back(s.CacheRead(product, operand, "warp"));
      s.ComputeAt(loads.back(), k[1]);
    }
    store = s.AccumulateAt(product, grid, "warp");
    const auto of_store = s.GetLoops(store);
    const auto a = s.Split(of_store[1], {2, 16}), b = s.Split(of_store[2], {2, 32});
    s.Reorder({a[0], b[0], a[1], b[1]});
    s.Bind(s.Fuse({a[0], b[0]}), LoopKind::kThreadY);
    s.Bind(warps, LoopKind::kThreadY);
  }
  void MakeCalls() {
    s.Call(loads[0], "mma.m16n8k16.load-a");
    s.Call(loads[1], "mma.m16n8k16.load-b");
    s.Call(product, "mma.m16n8k16.compute");
    s.Call(store, "mma.m16n8k16.store");
  }
  Program before = HalfMatmul(64, 64, 64);
  Schedule s = Scheduled(before);
  Block product = s.GetBlock("matmul"), store;
  Loop step;
  std::vector<Block> copies, loads;
};

void ExpectSame(const Program& before, const Program& after) {
  for (const PipelineOrder order : kOrders) {
    const absl::Status status =
        CheckSymbolic(after, *RunSymbolic(before), {.shuffle = 3, .pipelines = order});
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(Call, LaysOutFragmentsAndOwnersFollowThroughTheTiles) {
  WarpTiles t;
  t.MakeCalls();
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  const std::string text = ToString(t.s.program());
  EXPECT_THAT(text, HasSubstr("layout (d0/16 < 4, d1/8 < 8, d0%8*4 + d1/2%4 < 32, d0/8%2*2 + d1%2 < 4) "
                              "kinds (register, register, lane, register)"));
  for (const char* name : {"load-a", "load-b", "compute", "store"})
    EXPECT_THAT(text, HasSubstr(absl::StrCat("mma.m16n8k16.", name)));
  EXPECT_TRUE(CheckOwners(t.s.program()).ok()) << CheckOwners(t.s.program());
  ExpectSame(t.before, t.s.program());
}

TEST(Call, IsRefusedWithTheReason) {
  WarpTiles t;
  t.s.Call(t.store, "mma.m16n8k16.load-a");
  EXPECT_THAT(std::string(t.s.status().message()), HasSubstr("does not match mma.m16n8k16.load-a"));
  Schedule odd = Scheduled(HalfMatmul(24, 8, 16));
  odd.Call(odd.GetBlock("matmul"), "mma.m16n8k16.compute");
  EXPECT_THAT(std::string(odd.status().message()), HasSubstr("has 24 iterations, no multiple of the 16"));
}

TEST(Pipeline, MayHaveCallsBelow) {
  WarpTiles t;
  for (const Block copy : t.copies) {
    t.s.SwizzleLines(copy);
    t.s.CooperativeFetch(copy, 8);
  }
  t.MakeCalls();
  t.s.Pipeline(t.step, {.depths = {3}, .transport = "async"});
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  EXPECT_THAT(ToString(t.s.program()),
              HasSubstr("pipelined (0 0, 0 1, 2 2; A.cache 3 async, B.cache 3 async)"));
  LoopNestSummary nests;
  nests.Read(t.s.program());
  EXPECT_TRUE(VerifyLowerable(nests).ok()) << VerifyLowerable(nests);
  ExpectSame(t.before, t.s.program());
}

TEST(SwizzleLines, PermutesChunksOfLinesOf128Bytes) {
  WarpTiles t;
  for (const Block copy : t.copies) t.s.SwizzleLines(copy);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  const std::string text = ToString(t.s.program());
  EXPECT_THAT(text,
              HasSubstr("layout (d1/32 < 2, d0 < 64, d1%32 < 32) swizzle (6, 3, 2)"));  // 64 bytes wide
  EXPECT_THAT(text,
              HasSubstr("layout (d1/64 < 1, d0 < 64, d1%64 < 64) swizzle (6, 3, 3)"));  // 128 bytes wide
}

TEST(SwizzleLines, IsRefusedForOtherBuffers) {
  WarpTiles t;
  t.s.SwizzleLines(t.loads[0]);
  EXPECT_THAT(std::string(t.s.status().message()), HasSubstr("is not an array in shared memory"));
}

TEST(CooperativeFetch, CountsTheLanesOfWarps) {
  WarpTiles t;
  t.s.CooperativeFetch(t.copies[0], 8);  // 32 by 32 elements in 128 vectors, for 4 warps
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  const std::string text = ToString(t.s.program());
  EXPECT_THAT(text, HasSubstr("for c0_c1_1 < 4 thread-y"));
  EXPECT_THAT(text, HasSubstr("for c0_c1_2 < 32 thread-x"));
}

TEST(LoopNestSummary, CountsWhatALaneHoldsOfAFragment) {
  WarpTiles t;
  t.MakeCalls();
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  LoopNestSummary nests;
  nests.Read(t.s.program());
  std::map<std::string, int64_t> elements;
  for (size_t b = 0; b < nests.buffers().size(); ++b)
    elements[std::string(t.s.program().Text(t.s.program().buffers[b].name))] = nests.buffers()[b].elements;
  // The elements that one lane holds: 16 of the 16 by 32 that a warp accumulates, 8 of the 16 by 16 of A that it loads,
  // and 16 of the 16 by 32 of B.
  EXPECT_EQ(elements["C.acc"], 16);
  EXPECT_EQ(elements["A.cache.cache"], 8);
  EXPECT_EQ(elements["B.cache.cache"], 16);
}

}  // namespace
}  // namespace kiln
