// Multi-Level-Tiling: tiles for every level of the memory hierarchy (NeurIPS'22, section 3.2).
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//
// Applies to: reductions that reuse what they load (HasReuse). The structure is data: S a level of spatial
// tiles, R of reduction tiles. The innermost fit the vector registers together, the last as whole vectors.
// Structure:  write-reuse = none | registers above the last R level | those, and a cache above the first
//             read-reuse  = none | copy one operand below the first R level
//             epilogue    = apart | the consumer above the first reduction level
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "modules/tiling.h"

namespace kiln {
namespace {

struct Tiles {
  std::vector<std::vector<Loop>> levels;  // loops of each level of the structure
  Loop last_before_reduction = {}, first_reduction = {}, last_before_inner = {};
};

// The innermost `count` of the loops; the last of them is left to become lanes.
void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count) {
  for (size_t i = loops.size() - std::min(count, loops.size()); i + 1 < loops.size(); ++i) s.Unroll(loops[i]);
}

Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options) {
  const std::string& structure = options.structure;
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const DType type = s.program().buffers[WrittenBuffers(s.program(), s.node(block))[0]].dtype;
  const int64_t lanes = s.target().vector_bytes / SizeOf(type);
  const int64_t budget = std::max(4, s.target().vector_registers - 4) * lanes;
  const std::vector<Loop> loops = s.GetLoops(block);
  Tiles tiles{.levels = std::vector<std::vector<Loop>>(structure.size())};
  std::vector<Value> inner;
  for (size_t i = loops.size(); i-- > 0;) {  // innermost first: the vector's tile comes before the rows'
    const char kind = reduces[i] ? 'R' : 'S';
    const int parts = static_cast<int>(std::count(structure.begin(), structure.end(), kind));
    std::vector<Loop> split{loops[i]};
    if (parts > 1 && s.ExtentOf(loops[i]) > 1) {
      Schedule::TileOptions tile{.parts = parts, .innermost = options.max_reduction};
      if (!reduces[i]) tile.innermost = options.max_innermost, tile.budget = budget, tile.within = inner;
      if (!reduces[i] && inner.empty() && s.ExtentOf(loops[i]) % lanes == 0) tile.multiple = {lanes};
      const Value factors = s.SamplePerfectTile(loops[i], tile, absl::StrCat(std::string(1, kind), i));
      if (!reduces[i]) inner.push_back(factors);
      split = s.Split(loops[i], {factors});
    }
    size_t part = 0;
    for (size_t level = 0; level < structure.size() && part < split.size(); ++level)
      if (structure[level] == kind) tiles.levels[level].insert(tiles.levels[level].begin(), split[part++]);
  }
  std::vector<Loop> order;
  for (const auto& level : tiles.levels) order.insert(order.end(), level.begin(), level.end());
  s.Reorder(order);
  for (size_t level = 0; level < structure.size(); ++level) {
    if (tiles.levels[level].empty()) continue;
    if (level == structure.find('R')) tiles.first_reduction = tiles.levels[level].back();
    if (level < structure.find('R')) tiles.last_before_reduction = tiles.levels[level].back();
    if (level < structure.rfind('R')) tiles.last_before_inner = tiles.levels[level].back();
  }
  UnrollInner(s, tiles.levels.back(), tiles.levels.back().size());
  return tiles;
}

}  // namespace

BlockModule MultiLevelTiling(MultiLevelTilingOptions options) {
  return {"multi-level-tiling", [options](Schedule& s, Block block) {
            if (!s.ok() || !HasReuse(s.program(), s.node(block))) return;
            const std::vector<Id> consumers = Consumers(s.program(), s.node(block));
            const int write = s.Choose("write-reuse", 3);
            std::vector<Id> operands = ReadBuffers(s.program(), s.node(block));  // initial values last
            if (ReadsInitially(s.program(), s.node(block), operands.back())) operands.pop_back();
            const int read = s.Choose("read-reuse", 1 + static_cast<int>(operands.size()));
            const bool may_fuse = consumers.size() == 1 && s.program().block(consumers[0]).monoid == kNone;
            std::vector<Block> epilogue;
            if (s.Choose("epilogue", may_fuse ? 2 : 1) == 1) epilogue = s.GetConsumers(block);

            const Tiles tiles = TileLoops(s, block, options);
            if (write > 0) {
              const Block combine = s.AccumulateAt(block, tiles.last_before_inner, "register");
              UnrollInner(s, s.GetLoops(combine), tiles.levels.back().size());
              if (write > 1) s.AccumulateAt(combine, tiles.last_before_reduction, "stack");
            }
            if (read > 0) s.ComputeAt(s.CacheRead(block, read - 1), tiles.first_reduction);
            for (const Block consumer : epilogue) s.ReverseComputeAt(consumer, tiles.last_before_reduction);
          }};
}

KILN_MODULE("multi-level-tiling", MultiLevelTiling, Option("structure", &MultiLevelTilingOptions::structure),
            Option("max-innermost", &MultiLevelTilingOptions::max_innermost),
            Option("max-reduction", &MultiLevelTilingOptions::max_reduction));

}  // namespace kiln
