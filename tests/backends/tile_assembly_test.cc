// Tests the x86 assembly of tiled products and convolutions: innermost loops spill nothing, keep each accumulator in a
// register of its own, and use memory operands where an instruction allows it.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "modules/space.h"
#include "testing/goto_matmul.h"
#include "tests/backends/assembly.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

struct Tile {
  const char* target;
  int64_t rows, columns;
  int sums;  // number of vectors of accumulators
};

constexpr Tile kTiles[] = {{"x86-64-v3", 6, 16, 12}, {"x86-64-v4", 14, 32, 28}};

std::vector<std::string> LoopsOfSums(const Program& program, const std::string& target) {
  return kiln::LoopsOfSums(Assembly(program, target));
}

void ExpectTileInRegisters(const Program& program, const Tile& tile) {
  const std::vector<std::string> loops = LoopsOfSums(program, tile.target);
  ASSERT_FALSE(loops.empty()) << Assembly(program, tile.target);
  for (const std::string& loop : loops) ExpectSumsInRegisters(loop, tile.sums);
}

Program Product(const Tile& tile, bool pack = true) {
  return GotoMatmul(4 * tile.rows, 4 * tile.columns, 64,
                    {2 * tile.rows, tile.rows, 2 * tile.columns, tile.columns, 32}, pack);
}

// Returns the convolution y[h, w, f] sum= x[h + r, w + s, c] * k[r, s, c, f] in tiles of `tile.rows` pixels of a row
// and `tile.columns` channels, with accumulators in registers.
Program Convolution(const Tile& tile) {
  const int64_t width = 2 * tile.rows, channels = 2 * tile.columns;
  Builder b("conv");
  const Id x = b.Input("x", DType::kF32, {10, width + 2, 32}),
           k = b.Input("k", DType::kF32, {3, 3, 32, channels}),
           y = b.Output("y", DType::kF32, {8, width, channels});
  const IndexSum h = b.Iter(0), w = b.Iter(1), f = b.Iter(2), r = b.Iter(3), s = b.Iter(4), c = b.Iter(5);
  constexpr IterKind kReduction = IterKind::kReduction;
  b.Reduce("conv",
           {{"h", 8},
            {"w", width},
            {"f", channels},
            {"r", 3, kReduction},
            {"s", 3, kReduction},
            {"c", 32, kReduction}},
           Monoid::Kind::kSum, {y, {h, w, f}}, b.Mul(b.Load(x, {h + r, w + s, c}), b.Load(k, {r, s, c, f})));
  Schedule schedule = Scheduled(b.Finish());
  const Block conv = schedule.GetBlock("conv");
  const auto loops = schedule.GetLoops(conv);
  const auto [w0, w1] = schedule.Split<2>(loops[1], {kAuto, tile.rows});
  const auto [f0, f1] = schedule.Split<2>(loops[2], {kAuto, tile.columns});
  schedule.Reorder({loops[0], f0, w0, loops[3], loops[4], loops[5], w1, f1});
  schedule.Unroll(w1);
  schedule.Vectorize(f1);
  const auto out = schedule.GetLoops(schedule.AccumulateAt(conv, w0));
  schedule.Unroll(out[out.size() - 2]);
  schedule.Vectorize(out.back());
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.program();
}

// Returns a matrix product scheduled by a sketch of the default space, with this tile: the sketch that accumulates in
// registers and packs both operands, as in Goto's algorithm.
Program OfTheDefaultSpace(const Tile& tile) {
  const Program product = Matmul(6 * tile.rows, 4 * tile.columns, 64);
  const Target target = NamedTarget(tile.target).value();
  const auto sketches = Enumerate(ParseSpace(DefaultSpace(target)).value(), product, target);
  EXPECT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) {
    Trace trace = sketch.trace;
    bool wanted = true;
    for (const auto& choice : trace.choices) {
      if (absl::EndsWith(choice.name, "write-reuse")) wanted &= choice.picked == 1;
      if (absl::EndsWith(choice.name, "read-reuse")) wanted &= choice.picked == 4;
    }
    if (!wanted) continue;
    for (Step& step : trace.steps) {
      if (absl::EndsWith(step.site, "S0")) step.decision = {1, 2, 3, tile.rows};
      if (absl::EndsWith(step.site, "S1")) step.decision = {1, 2, 2, tile.columns};
      if (absl::EndsWith(step.site, "R2")) step.decision = {2, 32};
    }
    const auto replayed = Replay(trace, product, target);
    EXPECT_TRUE(replayed.ok()) << replayed.status();
    return replayed->program();
  }
  ADD_FAILURE() << "no such sketch";
  return product;
}

TEST(TileAssembly, AProductInGotosOrderKeepsItsSumsInRegisters) {
  for (const Tile& tile : kTiles) ExpectTileInRegisters(Product(tile), tile);
}

TEST(TileAssembly, AConvolutionKeepsItsSumsInRegisters) {
  for (const Tile& tile : kTiles) ExpectTileInRegisters(Convolution(tile), tile);
}

TEST(TileAssembly, ASketchOfTheDefaultSpaceKeepsItsSumsInRegisters) {
  for (const Tile& tile : kTiles) ExpectTileInRegisters(OfTheDefaultSpace(tile), tile);
}

// Compiles a tile with more accumulators than the machine has registers, and expects spills and stores in its loop, to
// show that the checks of this test find them.
TEST(TileAssembly, ATileThatDoesNotFitIsSeen) {
  const std::vector<std::string> loops = LoopsOfSums(Product({"x86-64-v3", 12, 16, 24}), "x86-64-v3");
  ASSERT_FALSE(loops.empty());
  EXPECT_GT(Matches(loops[0], kStack), 0) << loops[0];
  EXPECT_GT(Matches(loops[0], kStore), 0) << loops[0];
}

TEST(TileAssembly, ATileOneVectorWideTakesBroadcastsFromMemory) {
  const std::vector<std::string> loops = LoopsOfSums(Product({"x86-64-v4", 8, 16, 8}), "x86-64-v4");
  ASSERT_FALSE(loops.empty());
  for (const std::string& loop : loops)
    EXPECT_EQ(Matches(loop, "\tvfmadd[^\n]*\\)\\{1to16\\}, "), Matches(loop, kFma)) << loop;
}

TEST(TileAssembly, ATileOneRowHighTakesVectorsFromMemory) {
  for (const Tile& tile : {Tile{"x86-64-v3", 1, 64, 8}, Tile{"x86-64-v4", 1, 128, 8}}) {
    const std::vector<std::string> loops = LoopsOfSums(Product(tile), tile.target);
    ASSERT_FALSE(loops.empty());
    for (const std::string& loop : loops)
      EXPECT_EQ(Matches(loop, "\tvfmadd[^\n]*\t[^%\n]*\\(%r"), Matches(loop, kFma)) << loop;
  }
}

}  // namespace
}  // namespace kiln
