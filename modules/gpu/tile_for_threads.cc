// Tile-For-Threads: tiles a reduction for the threads of a GPU, with operands in shared memory and sums in
// registers.
//
//   for i: for j: for k: C[i, j] sum= A[i, k] * B[k, j]
//   ->
//   block-x b: { pipelined s: { A.s = A; B.s = B; thread-x t: for k: unrolled i, j: acc[i, j] sum= A.s * B.s }
//                thread-x t: unrolled i, j: C = acc }
//
// Elementwise consumers and crops of the result are computed where a thread stores its sums.
//
// Applies to: unscheduled reductions whose tiles reuse what they load. Structure:
//   operands = shared, double (two copies of a slice: one is read while the next one comes) or direct
//   split-k  = no, or yes: partial sums of up to 16 chunks, if large tiles make too few blocks for the GPU
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "modules/gpu/gpu.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

constexpr int64_t kLargeTile = 64 * 64;
constexpr int64_t kLongReduction = 256, kChunks = 16;

// True if large tiles make fewer than two blocks for each multiprocessor, and there is much to sum.
bool LacksBlocks(Schedule& s, Block block) {
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  int64_t spatial = 1, reduction = 1;
  const std::vector<Loop> loops = s.GetLoops(block);
  for (size_t i = 0; i < loops.size(); ++i) (reduces[i] ? reduction : spatial) *= s.ExtentOf(loops[i]);
  return spatial / kLargeTile < 2 * s.target().gpu->sms && reduction >= kLongReduction;
}

// Gives the threads their parts of the block that combines their sums.
void BindCombine(Schedule& s, Block combine, const ThreadTiles& tiles) {
  const std::vector<Loop> loops = s.GetLoops(combine);
  std::vector<Loop> threads, apart, elements;
  for (size_t i = 0; i < tiles.of_iters.size(); ++i) {
    if (!tiles.of_iters[i].has_value()) continue;
    const ThreadTile& tile = *tiles.of_iters[i];
    const std::vector<Loop> parts = s.Split(loops[loops.size() - tiles.of_iters.size() + i],
                                            std::vector<Factor>{tile.apart, tile.threads, tile.elements});
    apart.push_back(parts[0]);
    threads.push_back(parts[1]);
    elements.push_back(parts[2]);
  }
  std::vector<Loop> order = threads;
  order.insert(order.end(), apart.begin(), apart.end());
  order.insert(order.end(), elements.begin(), elements.end());
  s.Reorder(order);
  s.Bind(threads.size() > 1 ? s.Fuse(threads) : threads[0], LoopKind::kThreadX);
  for (const auto* level : {&apart, &elements})
    for (const Loop loop : *level) s.Unroll(loop);
}

}  // namespace

void TileForThreads(Schedule& s, Block block) {
  if (!s.ok() || s.target().gpu == nullptr || s.Skip(CheckReduces(s.program(), s.node(block))) ||
      s.Skip(CheckReuses(s.program(), s.node(block))))
    return;
  const int way = s.Choose("operands", {"shared", "double", "direct"});
  if (LacksBlocks(s, block) && s.Choose("split-k", {"no", "yes"}) == 1) SplitReduction(s, block, kChunks);
  const ThreadTiles tiles = SampleThreadTiles(s, block, way == 1 ? 2 : 1);
  std::vector<Block> copies;
  const int operands = way == 2 || !s.ok() ? 0 : std::ssize(ReadBuffers(s.program(), s.node(block)));
  for (int operand = 0; operand < operands; ++operand)
    copies.push_back(StageOperand(s, block, operand, tiles.step));
  const Block combine = s.AccumulateAt(block, tiles.block, "register");
  FoldConsumers(s, combine);
  BindCombine(s, combine, tiles);
  s.Bind(tiles.block, LoopKind::kBlockX);
  s.Bind(tiles.thread, LoopKind::kThreadX);
  for (const Block copy : copies) s.CooperativeFetch(copy, s.SampleCategorical({1, 2, 4}, {}, "fetch"));
  if (way == 1) s.Pipeline(tiles.step, {.depths = {2}});
}

KILN_MODULE("tile-for-threads", TileForThreads);

}  // namespace kiln
