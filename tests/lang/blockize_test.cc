// Tests blockize, which makes blocks of tiles, and other primitives on such blocks.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/reference/symbolic.h"
#include "lang/schedule/inline_nested_blocks.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
constexpr auto kI32 = DType::kI32;

// Returns the program C[i, j] sum= A[i, k] * B[k, j]
Program Matmul(int64_t m = 8, int64_t n = 8, int64_t k = 6) {
  Builder b("matmul");
  const Id A = b.Input("A", kI32, {m, k}), B = b.Input("B", kI32, {k, n}), C = b.Output("C", kI32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), r = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, r}), b.Load(B, {r, j})));
  return b.Finish();
}

struct Tiled {
  Schedule s;
  Block block;
  std::vector<Loop> outer, inner;
};

Tiled Tile(Program p, const std::vector<Factor>& tiles) {
  Tiled t{Scheduled(std::move(p)), {}, {}, {}};
  t.block = t.s.GetBlock("matmul");
  const std::vector<Loop> loops = t.s.GetLoops(t.block);
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto parts = t.s.Split(loops[i], {-1, tiles[i]});
    t.outer.push_back(parts[0]);
    t.inner.push_back(parts[1]);
  }
  std::vector<Loop> order = t.outer;
  order.insert(order.end(), t.inner.begin(), t.inner.end());
  t.s.Reorder(order);
  return t;
}

TEST(Blockize, MakesABlockOfATile) {
  Tiled t = Tile(Matmul(), {4, 2, 3});
  const Block tile = t.s.Blockize(t.inner[0]);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  EXPECT_THAT(ToString(t.s.program()), HasSubstr(R"(
for i_0 < 2 {
  for j_0 < 4 {
    for k_0 < 2 {
      block matmul.tile {
        spatial i < 2 = i_0
        spatial j < 4 = j_0
        reduction k < 2 = k_0
        for i_1 < 4 {
          for j_1 < 2 {
            for k_1 < 3 {
              block matmul {
                spatial i < 8 = i*4 + i_1
                spatial j < 8 = j*2 + j_1
                reduction k < 6 = k*3 + k_1
                C[i, j] sum= A[i, k]*B[k, j]
                from compute 4
              }
            }
          }
        }
      }
    }
  }
}
)"));
  ExpectSameResults(Matmul(), t.s.program());
  EXPECT_EQ(t.s.GetLoops(tile).size(), 3u);
  EXPECT_EQ(t.s.GetLoops(t.block).size(), 3u);
}

TEST(Blockize, TilesTheIterAndNotItsLoops) {
  Schedule s = Scheduled(Matmul());
  const auto i = s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {2, 2, 2});
  s.Blockize(i[2]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("spatial i < 4 = i_0*2 + i_1\n"));
  ExpectSameResults(Matmul(), s.program());
}

TEST(Blockize, GuardsOfWholeTilesAreOutside) {
  Schedule s = Scheduled(Matmul());
  const auto i = s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {3, 4});
  s.Blockize(i[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("spatial i < 2 = i_0\n"));
  ExpectSameResults(Matmul(), s.program());
}

TEST(Blockize, RefusesImperfectTiles) {
  Schedule s = Scheduled(Matmul(10));
  const auto i = s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {3, 4});
  s.Blockize(i[1]);
  EXPECT_THAT(Refusal(s), HasSubstr("iter i of block \"matmul\" at loop i_1: i_0*4 + i_1 < 10 is a condition "
                                    "on both sides of it: the tile is imperfect"));
}

TEST(Blockize, RefusesWhatIsNoTile) {
  Schedule s = Scheduled(Matmul());
  const auto i = s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {4, 2});
  s.Reorder({i[1], i[0]});
  s.Blockize(i[0]);
  EXPECT_THAT(Refusal(s),
              HasSubstr("iter i of block \"matmul\" at loop i_0: i_0*2 + i_1 is not a multiple of a tile "
                        "plus an offset in it"));
}

TEST(Blockize, RefusesSeveralBlocks) {
  Builder b("two");
  const Id A = b.Input("A", kI32, {4}), t = b.Temporary("t", kI32, {4}), B = b.Output("B", kI32, {4});
  b.Compute("one", {{"i", 4}}, {t, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("two", {{"i", 4}}, {B, {b.Iter(0)}}, b.Load(t, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  const Loop i = s.GetLoops(s.GetBlock("two"))[0];
  s.ComputeAt(s.GetBlock("one"), i);
  s.Blockize(i);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i has several children; loop i must be around one block alone"));
}

TEST(Blockize, ATileIsCopiedToAndFromAtTheLoopsAround) {
  Tiled t = Tile(Matmul(), {4, 2, 3});
  const Block tile = t.s.Blockize(t.inner[0]);
  t.s.ComputeAt(t.s.CacheRead(tile, 0, "stack"), t.outer[2]);
  t.s.ComputeAt(t.s.CacheRead(tile, 1, "stack"), t.outer[2]);
  t.s.ReverseComputeAt(t.s.CacheWrite(tile, "stack"), t.outer[1]);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  ExpectSameResults(Matmul(), t.s.program());
}

TEST(Blockize, NothingIsPlacedWithinATile) {
  const auto refusal = [](const std::function<void(Tiled&)>& step) {
    Tiled t = Tile(Matmul(), {4, 2, 3});
    t.s.Blockize(t.inner[0]);
    step(t);
    return Refusal(t.s);
  };
  const auto within =
      HasSubstr("block \"matmul\" is within block \"matmul.tile\"; nothing is placed in such a block");
  EXPECT_THAT(refusal([](Tiled& t) { t.s.Rfactor(t.block, t.inner[2]); }), within);
  EXPECT_THAT(refusal([](Tiled& t) { t.s.DecomposeReduction(t.block, t.outer[2]); }), within);
  EXPECT_THAT(refusal([](Tiled& t) { t.s.AccumulateAt(t.block, t.outer[2]); }), within);
  EXPECT_THAT(refusal([](Tiled& t) { t.s.PadEinsum(t.block, {8, 8, 8}); }), within);
  EXPECT_THAT(refusal([](Tiled& t) { t.s.ComputeAt(t.s.CacheRead(t.block, 0), t.inner[0]); }),
              HasSubstr("are in different scopes"));
}

TEST(Blockize, ReductionsStillStartOutside) {
  Tiled t = Tile(Matmul(), {4, 2, 3});
  t.s.Reorder({t.outer[2], t.outer[0]});
  t.s.Blockize(t.inner[0]);
  t.s.Parallel(t.outer[2]);
  EXPECT_THAT(Refusal(t.s), HasSubstr("loop k_0 feeds a reduction of block \"matmul\""));
}

TEST(InlineNestedBlocks, LeavesTheSameProgramWithoutTheTile) {
  Tiled t = Tile(Matmul(), {4, 2, 3});
  const std::string before = ToString(t.s.program());
  t.s.Blockize(t.inner[0]);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  Program p = t.s.program();
  InlineNestedBlocks(p);
  EXPECT_EQ(ToString(p), before);
}

TEST(InlineNestedBlocks, KeepsTheGuardsOfTheTile) {
  const Program p = ParseProgram(R"(kiln.program v1
program guarded
parameters A, B
buffer A: i32[4, 3] input
buffer B: i32[4, 3] output
for i < 4 {
  for j < 5 {
    block tile {
      spatial t < 3 = j
      spatial o < 4 = i
      for l < 3 {
        block b {
          spatial i < 4 = o
          spatial j < 3 = l
          B[i, j] = A[i, j]
        }
      }
    }
  }
}
)")
                        .value();
  Program flat = p;
  InlineNestedBlocks(flat);
  EXPECT_THAT(ToString(flat), HasSubstr("let m0 = j < 3\n"));
  ExpectSameResults(p, flat);
}

}  // namespace
}  // namespace kiln
