#include "search/features/cycle_estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/features/columns.h"
#include "search/features/features.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

double Cycles(const Program& program) {
  LoopNestSummary nests;
  nests.Read(program);
  return CycleEstimate(Target()).Cycles(nests);
}

// Returns a matmul that accumulates in C, thus in memory. Its innermost loops are k1 (serial, `inner_k` iterations), 8
// rows of i (unrolled) and `lanes` lanes of j (vectorized).
Program InMemory(int64_t lanes, int64_t inner_k) {
  Schedule s = Scheduled(Matmul(64, lanes * 8, 256));
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  const auto i = s.Split(loops[0], {kAuto, 8}), j = s.Split(loops[1], {kAuto, lanes}),
             k = s.Split(loops[2], {kAuto, inner_k});
  s.Reorder({k[0], i[0], j[0], k[1], i[1], j[1]});
  s.Unroll(i[1]);
  s.Vectorize(j[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(CycleEstimate, ReadsAnOddNumberOfLanesInPieces) {
  // Vectors of 7 lanes are read in pieces of 4, 2 and 1 lanes, and so cost more cycles a lane than vectors of 8.
  EXPECT_GT(Cycles(InMemory(7, 64)) / 7, 1.3 * Cycles(InMemory(8, 64)) / 8);
}

TEST(CycleEstimate, WantsSumsInMemoryToStayAtTheirResults) {
  EXPECT_GT(Cycles(InMemory(8, 2)), 1.5 * Cycles(InMemory(8, 64)));
}

TEST(CycleEstimate, PrefersAccumulatorsInRegisters) {
  const TileFactors tiles{{8, 1, 8}, {8, 1, 8}, {4, 64}};
  const Program named = TiledMatmul(Matmul(64, 64, 256), Target(), tiles, false).program();
  EXPECT_LT(Cycles(named), Cycles(InMemory(8, 64)));
}

TEST(CycleEstimate, IsTheRooflineWhereItKnowsNothingMore) {
  const Program program =
      TiledMatmul(Matmul(512, 512, 512), Target(), {{8, 16, 4}, {2, 16, 16}, {2, 256}}, false).program();
  const FeatureSet features = FeatureExtractor(Target()).Extract(program);
  EXPECT_NEAR(std::log2(Cycles(program)), features.values[kRooflineProgram], 1e-3);
}

TEST(CycleEstimate, IsZeroWithoutBlocks) { EXPECT_EQ(Cycles(Program()), 0); }

}  // namespace
}  // namespace kiln
