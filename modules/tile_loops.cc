#include "modules/tile_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"

namespace kiln {

std::vector<Id> LoopsOfIndex(const Bindings& bindings, const Sum& index) {
  std::vector<Id> loops;
  for (const Split& split : index.splits) {
    if (split.source.kind != Source::Kind::kIter) continue;
    for (const Split& part : bindings.iters[split.source.id].splits)
      if (part.source.kind == Source::Kind::kLoop) loops.push_back(part.source.id);
  }
  return loops;
}

void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count) {
  for (size_t i = loops.size() - std::min(count, loops.size()); i + 1 < loops.size(); ++i) s.Unroll(loops[i]);
}

void OrderByResult(Schedule& s, Block block) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const std::vector<Loop> loops = s.GetLoops(block);
  const Bindings bindings = ResolveBindings(p, s.node(block));
  std::vector<std::vector<Id>> dims;
  for (const Id mark : p.List(p.Accesses(p.block(s.node(block)).dests)[0].index))
    dims.push_back(LoopsOfIndex(bindings, p.SumOf(mark)));
  std::vector<std::pair<size_t, size_t>> order;  // dimension (reductions: beyond all), position
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto dim = std::find_if(dims.begin(), dims.end(), [&](const std::vector<Id>& moving) {
      return std::find(moving.begin(), moving.end(), s.node(loops[i])) != moving.end();
    });
    order.push_back({dim - dims.begin(), i});
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  std::sort(order.begin(), order.end());
  std::vector<Loop> sorted;
  for (const auto& [dim, position] : order) sorted.push_back(loops[position]);
  s.Reorder(sorted);
}

Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options) {
  const std::string& structure = options.structure;
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const DType type = s.program().buffers[WrittenBuffers(s.program(), s.node(block))[0]].dtype;
  const int64_t lanes = s.target().vector_bytes / SizeOf(type);
  const int64_t budget = std::max(4, s.target().vector_registers - 4) * lanes;
  const std::vector<Loop> loops = s.GetLoops(block);
  Tiles tiles;
  tiles.levels.resize(structure.size());
  tiles.parts.resize(loops.size());
  tiles.width.resize(loops.size());
  std::vector<Value> inner;
  for (size_t i = loops.size(); i-- > 0;) {  // innermost first: the vector's tile comes before the rows'
    const char kind = reduces[i] ? 'R' : 'S';
    const int parts = static_cast<int>(std::count(structure.begin(), structure.end(), kind));
    std::vector<Loop> split{loops[i]};
    if (parts > 1 && s.ExtentOf(loops[i]) > 1) {
      Schedule::TileOptions tile{.parts = parts, .innermost = options.max_reduction};
      if (!reduces[i]) tile.innermost = options.max_innermost, tile.budget = budget, tile.within = inner;
      if (!reduces[i] && inner.empty() && s.ExtentOf(loops[i]) % lanes == 0) tile.multiple = {lanes};
      const bool rows = !reduces[i] && !inner.empty() && options.waste_percent > 0;
      tile.waste = static_cast<double>(options.waste_percent) / 100;
      const std::string label = absl::StrCat(std::string(1, kind), i);
      const Value factors =
          rows ? s.SampleTile(loops[i], tile, label) : s.SamplePerfectTile(loops[i], tile, label);
      if (!reduces[i]) inner.push_back(factors), tiles.width[i] = s.Part(factors, -1);
      split = s.Split(loops[i], {factors});
    }
    size_t part = 0;
    for (size_t level = 0; level < structure.size() && part < split.size(); ++level)
      if (structure[level] == kind) tiles.levels[level].insert(tiles.levels[level].begin(), split[part++]);
    tiles.parts[i] = std::move(split);
  }
  std::vector<Loop> order;
  for (const auto& level : tiles.levels) order.insert(order.end(), level.begin(), level.end());
  s.Reorder(order);
  const size_t first = structure.find('R'), last = structure.rfind('R');
  for (size_t level = 0; level < structure.size(); ++level) {
    const std::vector<Loop>& here = tiles.levels[level];
    if (here.empty()) continue;
    if (level == first) tiles.first_reduction = here.back();
    if (level < first) tiles.last_before_reduction = here.back();
    if (level < last) tiles.last_before_inner = here.back();
    if (first < level && level < last) tiles.between.insert(tiles.between.end(), here.begin(), here.end());
  }
  UnrollInner(s, tiles.levels.back(), tiles.levels.back().size());
  return tiles;
}

}  // namespace kiln
