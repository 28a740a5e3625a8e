// Tile-For-Threads: tiles a reduction for the threads of a GPU, with operands in shared memory and sums in registers.
//
//   for i: for j: for k: C[i, j] sum= A[i, k] * B[k, j]
//   ->
//   block-x b: { pipelined s: { A.s = A; B.s = B; thread-x t: for k: unrolled i, j: acc[i, j] sum= A.s * B.s }
//                thread-x t: unrolled i, j: C = acc }
//
// Elementwise consumers and crops of the result are computed where a thread stores its sums. If the rows of an operand
// lie along a reduction, its slices lie in panels of columns, so that threads of different rows may use different
// banks.
//
// Applies to: unscheduled reductions, on GPUs, that initialize their result and whose tiles reuse what they load.
// Structure:
//   operands  = shared, pipeline (slices come while others are read) or direct
//   transport = of a pipeline: async (copies that threads wait for, 2 to 4 slices) or sync (loads and stores, 2
//               slices). If an operand is not only copied, it is sync.
//   split-k   = no, or yes: up to 16 partial sums. Offered if tiles of 64 x 64 results make fewer than two blocks for
//               each multiprocessor, and the reduction has at least 256 terms
// Sampling sites: the threads of a block, the tile of each loop, the order of tiles, the width of panels, the slices of
// an async pipeline, how many elements a thread copies at once, and with split-k the number of partial sums.
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "modules/gpu/gpu.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

constexpr int64_t kLargeTile = 64 * 64;
constexpr int64_t kLongReduction = 256, kChunks = 16;

// True if tiles of 64 x 64 results make fewer than two thread blocks for each multiprocessor, and the reduction has at
// least 256 terms.
bool LacksBlocks(Schedule& s, Block block) {
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  int64_t spatial = 1, reduction = 1;
  const std::vector<Loop> loops = s.GetLoops(block);
  for (size_t i = 0; i < loops.size(); ++i) (reduces[i] ? reduction : spatial) *= s.ExtentOf(loops[i]);
  return spatial / kLargeTile < 2 * s.target().gpu->sms && reduction >= kLongReduction;
}

// How the threads get slices of the operands: from shared memory or directly, in how many copies, and by which
// transport of a pipeline.
struct Slices {
  bool staged = true;          // in shared memory
  Factor copies = 1;           // of each slice
  std::string transport = "";  // of a pipeline; "": there is none
};

Slices ChooseSlices(Schedule& s, Block block) {
  const int way = s.Choose("operands", {"shared", "pipeline", "direct"});
  if (way != 1) return {.staged = way == 0};
  if (!MovesPlainly(s, block) || s.Choose("transport", {"async", "sync"}) == 1)
    return {.copies = 2, .transport = "sync"};
  return {.copies = s.SampleCategorical({2, 3, 4}, {}, "depth"), .transport = "async"};
}

// Splits the loops of the block that stores the threads' sums by the same tiles, so that each thread stores its own
// sums: binds its threads, and unrolls its virtual threads and elements.
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
  const Slices slices = ChooseSlices(s, block);
  std::vector<int> along_rows = LoopsAlongRows(s.program(), s.node(block));
  if (LacksBlocks(s, block) && s.Choose("split-k", {"no", "yes"}) == 1) {
    SplitReduction(s, block, kChunks);
    for (int& loop : along_rows) loop += loop >= 0 ? 1 : 0;  // the loop of the chunks comes first
  }
  const ThreadTiles tiles = SampleThreadTiles(s, block, slices.copies);
  std::vector<Block> copies;
  const int operands = slices.staged && s.ok() ? std::ssize(ReadBuffers(s.program(), s.node(block))) : 0;
  for (int operand = 0; operand < operands; ++operand)
    copies.push_back(StageOperand(s, block, operand, tiles.step));
  const Block combine = s.AccumulateAt(block, tiles.block, "register");
  FoldConsumers(s, combine);
  BindCombine(s, combine, tiles);
  s.Bind(tiles.block, LoopKind::kBlockX);
  s.Bind(tiles.thread, LoopKind::kThreadX);
  for (size_t operand = 0; operand < copies.size(); ++operand) {
    const int along = along_rows[operand];
    if (along >= 0) LayOutTile(s, copies[operand], tiles.slices[along]);
    FetchTile(s, copies[operand]);
  }
  if (!slices.transport.empty())
    s.Pipeline(tiles.step, {.depths = {slices.copies}, .transport = slices.transport});
}

KILN_MODULE("tile-for-threads", TileForThreads);

}  // namespace kiln
