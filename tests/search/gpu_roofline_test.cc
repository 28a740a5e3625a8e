// Tests the estimate of cycles for GPUs: which of two programs is estimated to be faster, and that its numbers stay in
// limits. No test states cycles, since none was measured.
#include "search/features/gpu_roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/support/gpu_pairs.h"

namespace kiln {
namespace {

double Cycles(const Program& program, const std::string& gpu = "h100",
              absl::Span<const CompiledKernel> compiled = {}) {
  LoopNestSummary nests;
  nests.Read(program);
  return GpuRoofline(*FindGpu(gpu)).Cycles(nests, compiled);
}

TEST(GpuRoofline, LikesNeighbouringLanesMoreThanStrides) {
  EXPECT_LT(2 * Cycles(CopyAlong(true, 1)), Cycles(CopyAlong(false, 1)));
}

TEST(GpuRoofline, LikesVectorsMoreThanScalars) {
  EXPECT_LT(Cycles(CopyAlong(true, 4)), Cycles(CopyAlong(true, 1)));
  EXPECT_LT(Cycles(CopyAlong(true, 2)), Cycles(CopyAlong(true, 1)));
}

TEST(GpuRoofline, LikesTilesWithReuseMoreThanNone) {
  const double none = Cycles(ProductWithoutTiles(2048, 2048, 2048, 256)),
               small = Cycles(ProductByTiles(2048, 2)), large = Cycles(ProductByTiles(2048, 8));
  EXPECT_LT(small, none);
  EXPECT_LT(large, small);
}

// Returns tiles of a matrix product: a block of 256 threads computes 64 by 64 sums, each thread four by four of them,
// in a pipeline with the given depth and transport.
SimtTile TileOf(int64_t depth, const char* transport) {
  SimtTile tile{.rows = {1, 16, 4}, .columns = {1, 16, 4}, .step = 8, .vector = 4};
  tile.pipeline = {.depths = {depth}, .transport = transport};
  return tile;
}

TEST(GpuRoofline, LikesCopiesThatAreUnderWay) {
  const Program program = Matmul(128, 128, 4096);  // four blocks: an SM waits for each slice
  const auto cycles = [&](int64_t depth, const char* transport) {
    return Cycles(TiledProduct(program, TileOf(depth, transport)).program());
  };
  EXPECT_LT(cycles(2, "async"), cycles(2, "sync"));
  EXPECT_LT(cycles(3, "async"), cycles(2, "async"));
  EXPECT_LT(cycles(4, "async"), cycles(3, "async"));
}

// Expects the fewest cycles of a tile whose threads read 16 adjacent bytes of a row at once. Threads of the other tiles
// read 32 bytes, 8 bytes, or elements of 4 bytes that lie apart, which have conflicts in the banks of shared memory or
// need more reads.
TEST(GpuRoofline, LikesTilesWithoutBankConflicts) {
  const Program program = Matmul(4096, 4096, 1024);
  const auto cycles = [&](const SimtTile::Side& columns, bool transposes) {
    SimtTile tile{.rows = {1, 16, 8}, .columns = columns, .step = 8, .vector = 4, .transposes = transposes};
    return Cycles(TiledProduct(program, tile).program(), "h100", {{{.registers = 128}}});
  };
  EXPECT_LT(cycles({2, 16, 4}, true), cycles({1, 16, 8}, true));
  EXPECT_LT(cycles({2, 16, 4}, true), cycles({2, 16, 4}, false));  // rows of A by vectors
  EXPECT_LT(cycles({2, 16, 4}, true), cycles({4, 16, 2}, true));
}

TEST(GpuRoofline, LikesTilesThatAreTurnedInSharedMemory) {
  Schedule direct = Scheduled(TransposedSum(1, 1024, 1024));
  direct.BindRest(1024, 1024);
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_LT(Cycles(TurnedTiles(1024, true)), Cycles(TurnedTiles(1024, false)));
  EXPECT_LT(Cycles(TurnedTiles(1024, true)), Cycles(direct.program()));
}

TEST(GpuRoofline, WantsMoreBlocksThanOne) {
  const double serial = Cycles(Scheduled(Matmul(128, 128, 256)).program()),
               one = Cycles(ProductInOneBlock(128, 128, 256));
  EXPECT_LT(4 * Cycles(ProductWithoutTiles(128, 128, 256, 64)), one);
  EXPECT_LT(4 * one, serial);  // a single thread is last
}

TEST(GpuRoofline, WantsWholeWarps) {
  EXPECT_LT(Cycles(ProductWithoutTiles(1024, 1024, 256, 256)),
            Cycles(ProductWithoutTiles(1024, 1024, 256, 8)));
}

TEST(GpuRoofline, PutsSpillsLast) {
  const Program program = ProductByTiles(1024, 8);
  const double fits = Cycles(program, "h100", {{{.registers = 128}}}),
               spills = Cycles(program, "h100", {{{.registers = 255, .spill_bytes = 64}}}),
               stack = Cycles(program, "h100", {{{.registers = 128, .stack_bytes = 16}}});
  EXPECT_GE(spills, 5 * fits);
  EXPECT_GE(stack, 5 * fits);
  EXPECT_GE(Cycles(ProductByTiles(1024, 32)), 5 * Cycles(program));  // guessed: 1024 sums of a thread
}

TEST(GpuRoofline, TakesFactsOfACompilerForGuesses) {
  const Program program = ProductByTiles(1024, 4);
  const double few = Cycles(program, "h100", {{{.registers = 64, .shared_bytes = 16 << 10}}}),
               many = Cycles(program, "h100", {{{.registers = 250, .shared_bytes = 16 << 10}}}),
               large = Cycles(program, "h100", {{{.registers = 64, .shared_bytes = 200 << 10}}});
  EXPECT_LE(few, many);
  EXPECT_LT(few, large);
  const std::vector<CompiledKernel> of_others = {{.registers = 32},
                                                 {.registers = 64, .shared_bytes = 16 << 10}};
  EXPECT_EQ(Cycles(program, "h100", of_others), few);  // the largest, if their number is another one
}

TEST(GpuRoofline, KnowsHowManyThreadBlocksFitAnSm) {
  const Gpu& h100 = *FindGpu("h100");
  EXPECT_EQ(ThreadBlocksOfSm(h100, 256, 32, 0), 8);          // threads
  EXPECT_EQ(ThreadBlocksOfSm(h100, 256, 64, 0), 4);          // registers
  EXPECT_EQ(ThreadBlocksOfSm(h100, 256, 65, 0), 3);          // in steps of 8
  EXPECT_EQ(ThreadBlocksOfSm(h100, 256, 32, 100 << 10), 2);  // shared memory
  EXPECT_EQ(ThreadBlocksOfSm(h100, 32, 16, 0), 32);          // thread blocks
  EXPECT_EQ(ThreadBlocksOfSm(h100, 2048, 16, 0), 0);         // more threads than a block has
  EXPECT_EQ(ThreadBlocksOfSm(h100, 1024, 128, 0), 0);        // more registers than there are
  EXPECT_EQ(ThreadBlocksOfSm(h100, 128, 32, 228 << 10), 0);  // more shared memory
  EXPECT_EQ(ThreadBlocksOfSm(*FindGpu("l4"), 256, 32, 0), 6);
}

TEST(GpuRoofline, MoreWorkIsNeverFaster) {
  for (const Gpu& gpu : Gpus()) {
    double last = 0;
    for (const int64_t size : {64, 128, 256, 512, 1024, 2048}) {
      const double cycles = Cycles(ProductByTiles(size, 4), std::string(gpu.name));
      EXPECT_TRUE(std::isfinite(cycles) && cycles > 0) << gpu.name;
      EXPECT_GE(cycles, last) << gpu.name << " " << size;
      last = cycles;
    }
  }
}

TEST(GpuRoofline, IsFiniteForAGpuWithoutNumbers) {
  LoopNestSummary nests;
  const Program program = ProductByTiles(256, 4);
  nests.Read(program);
  const double cycles = GpuRoofline(Gpu{}).Cycles(nests);
  EXPECT_TRUE(std::isfinite(cycles) && cycles > 0);
}

TEST(GpuRoofline, CountsTheKernelsOfAProgram) {
  const Program softmax = SoftmaxOfRows(Softmax(128, 1024)).program();
  LoopNestSummary nests;
  nests.Read(softmax);
  GpuRoofline roofline(*FindGpu("h100"));
  roofline.Cycles(nests);
  ASSERT_EQ(roofline.kernels().size(), 1u);
  EXPECT_EQ(roofline.work().kernels()[0].threads.Count(), 8);
  EXPECT_EQ(roofline.work().kernels()[0].grid, 128);
  EXPECT_GE(roofline.work().kernels()[0].barriers, 2);
  EXPECT_EQ(roofline.kernels()[0].dram_bytes, 2 * 128 * 1024 * 4);  // one read, one write
}

WarpRequest Request(int64_t width, int64_t step) {
  WarpRequest request{.lanes = 32, .width = width};
  for (int lane = 0; lane < 32; ++lane) request.address[lane] = lane * step;
  return request;
}

TEST(WarpRequest, CountsSectors) {
  EXPECT_EQ(Request(4, 4).Sectors(), 4);
  EXPECT_EQ(Request(16, 16).Sectors(), 16);
  EXPECT_EQ(Request(4, 4096).Sectors(), 32);
  EXPECT_EQ(Request(4, 8).Sectors(), 8);
  EXPECT_EQ(Request(4, 0).Sectors(), 1);
}

TEST(WarpRequest, CountsBankConflicts) {
  EXPECT_EQ(Request(4, 4).BankCycles(), 1);
  EXPECT_EQ(Request(4, 8).BankCycles(), 2);
  EXPECT_EQ(Request(4, 128).BankCycles(), 32);
  EXPECT_EQ(Request(4, 132).BankCycles(), 1);  // padded rows
  EXPECT_EQ(Request(4, 0).BankCycles(), 1);    // one word for all
  EXPECT_EQ(Request(2, 2).BankCycles(), 1);
  EXPECT_EQ(Request(16, 16).BankCycles(), 4);
  EXPECT_EQ(Request(16, 128).BankCycles(), 32);
}

TEST(WarpRequest, OfAProgramFollowsItsLanesAndVectors) {
  LoopNestSummary nests;
  const auto sectors = [&](const Program& program) {
    nests.Read(program);
    const NestBlock& block = nests.blocks()[0];
    const WarpRequest request = RequestOf(nests, block, nests.accesses(block)[0], {.x = 256});
    EXPECT_EQ(request.lanes, 32);
    return std::pair<int, int64_t>(request.Sectors(), request.width);
  };
  EXPECT_EQ(sectors(CopyAlong(true, 1)), std::pair(4, int64_t{4}));
  EXPECT_EQ(sectors(CopyAlong(true, 4)), std::pair(16, int64_t{16}));
  EXPECT_EQ(sectors(CopyAlong(false, 1)), std::pair(32, int64_t{4}));
}

// The estimate joins neighboring loads of unrolled code to vectors, as LLVM does: four elements of B in a row, and the
// elements of A along unrolled terms of a sum.
TEST(WarpRequest, OfAStraightLineTakesNeighboursTogether) {
  Schedule s = Scheduled(Matmul(64, 64, 64));
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  const auto i = s.Split(loops[0], {kAuto, 4}), j = s.Split(loops[1], {kAuto, 16, 4});
  s.Reorder({i[0], j[0], j[1], loops[2], i[1], j[2]});
  s.Bind(j[1], LoopKind::kThreadX);
  for (const Loop loop : {i[1], j[2]}) s.Unroll(loop);
  s.UnrollUpTo(64);
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  const NestBlock& block = nests.blocks()[0];
  const auto request = [&](int access) {
    return RequestOf(nests, block, nests.accesses(block)[access], {.x = 16});
  };
  EXPECT_EQ(request(0).width, 16);
  EXPECT_EQ(request(0).pieces, 16);  // of 64 terms
  EXPECT_EQ(request(1).width, 16);
  EXPECT_EQ(request(1).pieces, 1);
}

TEST(WarpRequest, OfPermutedWordsHasNoConflictsAndNoVectors) {
  LoopNestSummary nests;
  const auto request = [&](bool permuted, int block, int access) {
    static Program program;
    program = TurnedTiles(64, permuted);
    nests.Read(program);
    const NestBlock& of = nests.blocks()[block];
    return RequestOf(nests, of, nests.accesses(of)[access], {.x = 1024});
  };
  EXPECT_EQ(request(false, 0, 1).width, 16);  // stores of the copy
  EXPECT_EQ(request(false, 1, 0).BankCycles(), 32);
  EXPECT_EQ(request(true, 0, 1).width, 4);
  EXPECT_EQ(request(true, 0, 1).pieces, 4);
  EXPECT_EQ(request(true, 0, 1).BankCycles(), 1);
  EXPECT_EQ(request(true, 1, 0).BankCycles(), 1);
}

}  // namespace
}  // namespace kiln
