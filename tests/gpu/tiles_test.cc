// Tests that tiled GPU products, scheduled as the modules for GPUs do it, compile and compute the right results in the
// emulator: with synchronous and asynchronous pipelines, virtual threads, padding, incomplete tiles, and several
// kernels.
#include <gtest/gtest.h>

#include "lang/text/text.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

void ExpectSame(const Program& original, const Schedule& schedule) {
  ASSERT_TRUE(schedule.ok()) << schedule.status() << ToString(schedule.program());
  ExpectSameOnGpu(original, schedule.program());
}

std::string PlanOf(const Schedule& s) {
  const auto planned = plan::PlanKernels(s.program());
  EXPECT_TRUE(planned.ok()) << planned.status();
  return planned.ok() ? ToString(planned->program, planned->plan) : "";
}

const SimtTile kTile{.rows = {1, 8, 4}, .columns = {1, 4, 4}, .step = 8, .vector = 4};

TEST(GpuTiles, OfAPipelineWithCopiesOfSixteenBytes) {
  const Program program = Matmul(64, 32, 32);
  ExpectSame(program, TiledProduct(program, kTile));
}

TEST(GpuTiles, OfAPipelineWithAsynchronousCopies) {
  const Program program = Matmul(64, 32, 48);
  SimtTile tile = kTile;
  tile.pipeline = {.depths = {3}, .transport = "async"};
  const Schedule s = TiledProduct(program, tile);
  ExpectSame(program, s);
  const std::string plan = PlanOf(s);
  EXPECT_NE(plan.find("A.cache.1 stores async"), std::string::npos) << plan;
  EXPECT_NE(plan.find("sync warp groups 1"), std::string::npos) << plan;
}

// Checks pipelines whose ring buffers hold 2 to 6 steps: more than the stages need, and as many as the loop has steps
// or more.
TEST(GpuTiles, OfPipelinesOfAnyDepth) {
  const Program program = Matmul(32, 16, 32);
  for (const int64_t depth : {2, 4, 5, 6}) {
    SCOPED_TRACE(depth);
    SimtTile tile = kTile;
    tile.pipeline = {.depths = {depth}, .transport = "async"};
    ExpectSame(program, TiledProduct(program, tile));
    tile.pipeline = {.stages = {0, 0, 1}, .depths = {depth}, .transport = depth % 2 == 0 ? "async" : "sync"};
    ExpectSame(program, TiledProduct(program, tile));
  }
}

TEST(GpuTiles, OfAPipelineThatMultipliesFirst) {
  const Program program = Matmul(32, 16, 32);
  for (const char* transport : {"sync", "async"}) {
    SimtTile tile = kTile;
    tile.pipeline = {.stages = {0, 0, 1}, .order = {1, 2, 0}, .depths = {3}, .transport = transport};
    ExpectSame(program, TiledProduct(program, tile));
  }
}

TEST(GpuTiles, OfOneStep) {
  const Program program = Matmul(32, 16, 8);
  SimtTile tile = kTile;
  tile.pipeline = {.depths = {2}, .transport = "async"};
  ExpectSame(program, TiledProduct(program, tile));
}

TEST(GpuTiles, OfVirtualThreads) {
  const Program program = Matmul(64, 64, 16);
  SimtTile tile = kTile;
  tile.rows.virtual_threads = 2;
  tile.columns = {2, 4, 2};
  tile.unrolled = 4;
  ExpectSame(program, TiledProduct(program, tile));
}

TEST(GpuTiles, WithATransposedOperand) {
  const Program program = Matmul(32, 16, 32);
  SimtTile tile = kTile;
  tile.transposes = true;
  ExpectSame(program, TiledProduct(program, tile));
}

// Checks a product of 50 x 27 x 20 that is padded to multiples of the tile: copies to shared memory fill the padding
// with zeros, and the result is cropped.
TEST(GpuTiles, OfAPaddedProduct) {
  const Program program = Matmul(50, 27, 20);
  for (const char* transport : {"sync", "async"}) {
    SCOPED_TRACE(transport);
    Schedule s = Scheduled(program);
    const Block product = s.GetBlock("matmul");
    s.Einsum(product, {32, 16, 8});
    ASSERT_TRUE(s.ok()) << s.status();
    SimtTile tile = kTile;
    tile.vector = 1;
    tile.pipeline = {.depths = {3}, .transport = transport};
    const std::vector<Block> copies = {s.GetBlock("A.mk.1"), s.GetBlock("B.kn.1")};
    s = TiledProduct(std::move(s), product, tile, copies);
    s.BindRest(64, 64);
    ExpectSame(program, s);
  }
}

// Checks a product of 50 x 27 x 20 whose tiles do not divide its loops, so that the kernel has guards.
TEST(GpuTiles, ThatAreIncomplete) {
  const Program program = Matmul(50, 27, 20);
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {kAuto, 8, 4}), j = s.Split(loops[1], {kAuto, 4, 4});
  const auto k = s.Split(loops[2], {kAuto, 8});
  s.Reorder({i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]});
  s.Bind(s.Fuse({i[0], j[0]}), LoopKind::kBlockX);
  const Loop thread = s.Fuse({i[1], j[1]});
  const Block store = s.AccumulateAt(product, thread, "register");
  for (const Loop loop : {i[2], j[2]}) s.Unroll(loop);
  const auto of_store = s.GetLoops(store);
  for (size_t l = of_store.size() - 2; l < of_store.size(); ++l) s.Unroll(of_store[l]);
  s.Bind(thread, LoopKind::kThreadX);
  ExpectSame(program, s);
}

TEST(GpuTiles, MustUnrollTheirRegisters) {
  Schedule s = Scheduled(Matmul(32, 16, 8));
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {kAuto, 4});
  s.Reorder({i[0], loops[1], loops[2], i[1]});
  s.AccumulateAt(product, loops[1], "register");
  s.Bind(i[0], LoopKind::kBlockX);
  s.Bind(loops[1], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(plan::PlanKernels(s.program()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(GpuTiles, OfAReductionThatIsSplitOverBlocks) {
  const Program program = Matmul(16, 16, 64);
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto k = s.Split(loops[2], {4, 16});
  s.Rfactor(product, k[0], 0);
  s.Reorder({k[0], loops[0], loops[1]});
  s.Bind(k[0], LoopKind::kBlockZ);
  s.BindRest(128, 64);
  ExpectSame(program, s);
}

// Checks a product whose threads store the tile of the result to shared memory first, and from there to the result in
// vectors of 4.
TEST(GpuTiles, ThatAreStoredThroughSharedMemory) {
  const Program program = Matmul(32, 16, 32);
  Schedule s = TiledProduct(program, kTile);
  ASSERT_TRUE(s.ok()) << s.status();
  const Block combine = s.GetBlock("matmul.combine");
  const Block store = s.CacheWrite(combine, "shared");
  s.ReverseComputeAt(store, s.GetLoops(combine)[0]);
  s.CooperativeFetch(store, 4);
  ExpectSame(program, s);
}

TEST(GpuTiles, OfRowsInRegisters) {
  const Program program = Softmax(3, 512);
  Schedule s = Scheduled(program);
  const SoftmaxRows rows(s);
  const auto& [row, load, max, exp, sum, div] = rows;
  for (const Block block : {load, max, exp, sum, div}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {kAuto, 64, 4});
    s.Reorder({parts[1], parts[0], parts[2]});
    s.Bind(parts[1], LoopKind::kThreadX);
    s.Unroll(parts[0]);
    rows.Moves(block) ? s.Vectorize(parts[2]) : s.Unroll(parts[2]);
  }
  s.Bind(row, LoopKind::kBlockX);
  ExpectSame(program, s);
}

}  // namespace
}  // namespace kiln
