#include "modules/tiling/tile_loops.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "lang/analysis/access.h"

namespace kiln {

Allowed LevelsOfTiles() {
  return {.text =
              [](const std::string& levels) {
                return levels.find_first_not_of("SR") == std::string::npos &&
                       absl::StrContains(levels, 'S') && absl::StrContains(levels, 'R');
              },
          .texts =
              "a letter for each level of tiles, S of spatial loops and R of reductions, such as SSRSRS; "
              "each of the two once at least"};
}

void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count) {
  for (size_t i = loops.size() - std::min(count, loops.size()); i + 1 < loops.size(); ++i) s.Unroll(loops[i]);
}

Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options, bool columns_first,
                const IntrinsicFamily* unit) {
  const std::string& structure = options.structure;
  const int last_window =
      s.target().policies.Has(Policy::kInnermostWindow) ? LastWindow(s.program(), s.node(block)) : -1;
  Tiles tiles = SampleTiles(s, block, options, unit);
  tiles.last_window = last_window;
  const size_t first = structure.find('R'), last = structure.rfind('R');
  if (tiles.last_window >= 0) {
    const Loop window = tiles.parts[tiles.last_window].back();
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
  order.insert(order.end(), tiles.unit.begin(), tiles.unit.end());
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
  if (!tiles.unit.empty()) s.Unroll(tiles.levels.back().back());
  return tiles;
}

}  // namespace kiln
