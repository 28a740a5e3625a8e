#include "modules/tiling/sample_tiles.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

// The registers that an innermost tile may fill, and the elements (or tiles of the intrinsic) that fit one register.
struct Room {
  int64_t registers, lanes;
};

Room RoomFor(const Target& target, int64_t lanes, const IntrinsicFamily* unit) {
  const CostTable& costs = target.costs;
  const int64_t vectors =
      std::max(costs.least_tile_registers, target.vector_registers - costs.broadcast_registers);
  if (unit == nullptr) return {vectors, lanes};
  if (unit->registers > 0) return {unit->registers - 1, 1};
  const int64_t fills = unit->m * std::max(lanes, unit->n) / lanes;
  return {std::max<int64_t>(1, vectors / fills), std::max<int64_t>(1, lanes / unit->n)};
}

}  // namespace

Tiles SampleTiles(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit) {
  const std::string& structure = options.structure;
  Tiles tiles;
  const std::vector<bool>& reduces = tiles.reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const DType type = s.program().buffers[WrittenBuffers(s.program(), s.node(block))[0]].dtype;
  const Room room = RoomFor(s.target(), s.target().vector_bytes / SizeOf(type), unit);
  const std::vector<Loop> loops = s.GetLoops(block);
  std::vector<int64_t> grains(loops.size(), 1);
  if (unit != nullptr) {
    grains.resize(loops.size() - 3);
    grains.insert(grains.end(), {unit->m, unit->n, unit->k});
  }
  tiles.levels.resize(structure.size());
  tiles.parts.resize(loops.size());
  tiles.width.resize(loops.size());
  tiles.depths.resize(loops.size());
  std::vector<Value> inner;
  for (size_t i = loops.size(); i-- > 0;) {  // innermost first: the vector's tile comes before the rows'
    const char kind = reduces[i] ? 'R' : 'S';
    const int parts = static_cast<int>(std::count(structure.begin(), structure.end(), kind));
    Loop loop = loops[i];
    if (grains[i] > 1) {
      const std::vector<Loop> cut = s.Split(loop, std::vector<Factor>{kAuto, grains[i]});
      loop = cut[0];
      tiles.unit.insert(tiles.unit.begin(), cut[1]);
      if (!reduces[i]) tiles.width[i] = s.Multiply({grains[i]});
    }
    std::vector<Loop> split{loop};
    if (parts > 1 && s.ExtentOf(loop) > 1) {
      Schedule::TileOptions tile{.parts = parts, .innermost = options.max_reduction};
      if (!reduces[i]) {
        tile.innermost = std::max<int64_t>(1, options.max_innermost / grains[i]);
        tile.budget = room.registers, tile.lanes = room.lanes, tile.within = inner;
      }
      if (!reduces[i] && inner.empty() && room.lanes > 1 && s.ExtentOf(loop) % room.lanes == 0)
        tile.multiple = {room.lanes};
      const bool rows = !reduces[i] && !inner.empty() && options.waste_percent > 0;
      tile.waste = static_cast<double>(options.waste_percent) / 100;
      const std::string label = absl::StrCat(std::string(1, kind), i);
      const Value factors = rows ? s.SampleTile(loop, tile, label) : s.SamplePerfectTile(loop, tile, label);
      if (!reduces[i]) {
        inner.push_back(factors);
        tiles.width[i] = s.Part(factors, -1);
        if (grains[i] > 1) tiles.width[i] = s.Multiply({*tiles.width[i], grains[i]});
      }
      if (reduces[i]) tiles.depths[i] = factors;
      split = s.Split(loop, {factors});
    }
    size_t part = 0;
    for (size_t level = 0; level < structure.size() && part < split.size(); ++level)
      if (structure[level] == kind) tiles.levels[level].insert(tiles.levels[level].begin(), split[part++]);
    tiles.parts[i] = std::move(split);
  }
  return tiles;
}

}  // namespace kiln
