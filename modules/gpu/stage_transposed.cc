// Stage-Transposed: loads operands along their own rows, and turns them in shared memory.
//
//   for j: for i: Y[j, i] = f(X[i, j])
//   ->
//   block-x b: { thread-x t: vectorized: X.s[i, j] = X[i, j];  thread-x t: for c: unrolled: Y[j, i] = f(X.s[i, j]) }
//
// A block of threads computes a tile of the result. Of each operand whose neighbours lie along another loop than those
// of the result, it first copies a tile to shared memory. So threads next to each other both load and store neighbours.
// If the rows of a tile fill whole lines of 128 bytes, the words of the lines are permuted: rows and columns then use
// all banks of shared memory.
//
// Applies to: unscheduled blocks without a reduction, on GPUs, that read such operands. Structure: transposed = direct
// (leaves the block as it is) | staged
// Sampling sites: the sides of a tile, whole lines if possible; the order of tiles; the threads; how many neighbours a
// thread stores and copies at once.
#include <algorithm>
#include <numeric>

#include "modules/gpu/gpu.h"
#include "modules/gpu/transposed.h"
#include "modules/module.h"

namespace kiln {
namespace {

constexpr int64_t kMostLines = 4;  // of a side of a tile
constexpr int64_t kWarp = 32;

// Returns the largest power of two that divides both numbers.
int64_t PowerIn(int64_t a, int64_t b) {
  const int64_t n = std::gcd(a, b);
  return n & -n;
}

struct Side {
  Value tile;              // the number of tiles, and the elements of one
  int64_t multiple = 1;    // the elements of a tile are a multiple of this number
  bool is_perfect = true;  // tiles divide the loop
};

// Draws the side of a tile along a loop, at most `most` elements and at most four lines (of `line` elements each). A
// loop that is no longer than a line is one side. Otherwise a side is a multiple of the largest power of two that
// divides both the loop and a line, if that is at least a quarter of a line. If not, a side is a multiple of a line,
// and the last tile is incomplete.
Side SampleSide(Schedule& s, Loop loop, int64_t line, Factor most, absl::string_view label) {
  const int64_t extent = s.ExtentOf(loop), multiple = extent <= line ? extent : PowerIn(extent, line);
  Schedule::TileOptions options{.parts = 2, .innermost = kMostLines * line, .most = {most}};
  options.multiple = {multiple};
  if (extent <= line || multiple >= line / 4) return {s.SamplePerfectTile(loop, options, label), multiple};
  options.multiple = {line};
  options.waste = 1;  // less than a line, which is less than the loop
  return {s.SampleTile(loop, options, label), line, false};
}

// The loop over the tiles of a block, and whether the rows of a tile fill whole lines of shared memory.
struct Tiles {
  Loop block;
  bool has_lines = false;  // rows fill lines of shared memory
};

Tiles TileBlock(Schedule& s, Block block, const Transposed& of) {
  const Gpu& gpu = *s.target().gpu;
  const std::vector<Loop> loops = s.GetLoops(block);
  const Loop rows = loops[of.rows], columns = loops[of.columns];
  const int64_t line = kLineBytes / of.widest, extent = s.ExtentOf(columns),
                room = gpu.shared_per_block / (of.widest * std::ssize(of.operands));
  const Side across = SampleSide(s, columns, line, std::max<int64_t>(1, room / line), "columns");
  const Side along = SampleSide(s, rows, line, s.Divide(room, s.Part(across.tile, 1)), "rows");
  std::vector<int64_t> vectors{1};
  while (PowerIn(extent, s.target().vector_bytes / of.widest) > vectors.back())
    vectors.push_back(2 * vectors.back());
  const Value vector = s.SampleCategorical(vectors, {}, "vector");
  const std::vector<Loop> x = s.Split(columns, {across.tile}), y = s.Split(rows, {along.tile}),
                          v = s.Split(x[1], std::vector<Factor>{kAuto, vector});
  std::vector<Loop> blocks;
  for (size_t i = 0; i < loops.size(); ++i)
    if (static_cast<int>(i) != of.rows && static_cast<int>(i) != of.columns) blocks.push_back(loops[i]);
  blocks.insert(blocks.end(), {y[0], x[0]});
  std::vector<Loop> order = blocks;
  order.insert(order.end(), {y[1], v[0], v[1]});
  s.Reorder(order);
  const Loop tile = FuseBlocks(s, blocks), inside = s.Fuse({y[1], v[0]});
  const int64_t lanes = PowerIn(across.multiple * along.multiple / vectors.back(), kWarp);
  const Value threads = s.SamplePerfectTile(
      inside, {.parts = 2, .innermost = gpu.threads_per_block, .multiple = {lanes}}, "threads");
  const std::vector<Loop> t = s.Split(inside, {threads});
  s.Reorder({t[1], t[0]});
  s.Unroll(v[1]);
  s.Bind(tile, LoopKind::kBlockX);
  s.Bind(t[1], LoopKind::kThreadX);
  const int64_t bytes = across.multiple * along.multiple * of.narrowest;
  return {tile, along.multiple % line == 0 || (across.is_perfect && bytes % kLineBytes == 0)};
}

}  // namespace

void StageTransposed(Schedule& s, Block block) {
  if (!s.ok() || s.target().gpu == nullptr) return;
  const auto found = FindTransposed(s.program(), s.node(block));
  if (s.Skip(found.status()) || s.Choose("transposed", {"direct", "staged"}) == 0) return;
  const Tiles tiles = TileBlock(s, block, *found);
  std::vector<Block> copies;
  for (const int operand : found->operands) copies.push_back(StageOperand(s, block, operand, tiles.block));
  for (const Block copy : copies) {
    if (tiles.has_lines) LayOutLines(s, copy);
    FetchTile(s, copy);
  }
}

KILN_MODULE("stage-transposed", StageTransposed);

}  // namespace kiln
