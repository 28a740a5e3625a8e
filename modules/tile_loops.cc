#include "modules/tile_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"

namespace kiln {

void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count) {
  for (size_t i = loops.size() - std::min(count, loops.size()); i + 1 < loops.size(); ++i) s.Unroll(loops[i]);
}

Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options, bool columns_first) {
  const std::string& structure = options.structure;
  Tiles tiles;
  const std::vector<bool>& reduces = tiles.reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const DType type = s.program().buffers[WrittenBuffers(s.program(), s.node(block))[0]].dtype;
  const int64_t lanes = s.target().vector_bytes / SizeOf(type);
  const int64_t budget = std::max(4, s.target().vector_registers - 1);  // one holds what is broadcast
  const std::vector<Loop> loops = s.GetLoops(block);
  tiles.levels.resize(structure.size());
  tiles.parts.resize(loops.size());
  tiles.width.resize(loops.size());
  tiles.depths.resize(loops.size());
  std::vector<Value> inner;
  const int last_window = tiles.last_window = LastWindow(s.program(), s.node(block), reduces);
  for (size_t i = loops.size(); i-- > 0;) {  // innermost first: the vector's tile comes before the rows'
    const char kind = reduces[i] ? 'R' : 'S';
    const int parts = static_cast<int>(std::count(structure.begin(), structure.end(), kind));
    std::vector<Loop> split{loops[i]};
    if (parts > 1 && s.ExtentOf(loops[i]) > 1) {
      Schedule::TileOptions tile{.parts = parts, .innermost = options.max_reduction};
      if (!reduces[i])
        tile.innermost = options.max_innermost, tile.budget = budget, tile.lanes = lanes, tile.within = inner;
      if (!reduces[i] && inner.empty() && s.ExtentOf(loops[i]) % lanes == 0) tile.multiple = {lanes};
      const bool rows = !reduces[i] && !inner.empty() && options.waste_percent > 0;
      tile.waste = static_cast<double>(options.waste_percent) / 100;
      const std::string label = absl::StrCat(std::string(1, kind), i);
      const Value factors =
          rows ? s.SampleTile(loops[i], tile, label) : s.SamplePerfectTile(loops[i], tile, label);
      if (!reduces[i]) inner.push_back(factors), tiles.width[i] = s.Part(factors, -1);
      if (reduces[i]) tiles.depths[i] = factors;
      split = s.Split(loops[i], {factors});
    }
    size_t part = 0;
    for (size_t level = 0; level < structure.size() && part < split.size(); ++level)
      if (structure[level] == kind) tiles.levels[level].insert(tiles.levels[level].begin(), split[part++]);
    tiles.parts[i] = std::move(split);
  }
  const size_t first = structure.find('R'), last = structure.rfind('R');
  if (last_window >= 0) {
    const Loop window = tiles.parts[last_window].back();
    std::vector<Loop>& inside = tiles.levels[last];
    const auto at =
        std::find_if(inside.begin(), inside.end(), [&](Loop l) { return l.number == window.number; });
    if (at != inside.end()) std::rotate(at, at + 1, inside.end());
  }
  for (size_t level = first; columns_first && level < last; ++level) {
    std::vector<Loop>& here = tiles.levels[level];
    if (structure[level] == 'S' && !here.empty()) std::rotate(here.begin(), here.end() - 1, here.end());
  }
  std::vector<Loop> order;
  for (const auto& level : tiles.levels) order.insert(order.end(), level.begin(), level.end());
  s.Reorder(order);
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
