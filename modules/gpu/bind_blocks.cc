#include "modules/gpu/gpu.h"

namespace kiln {
namespace {

constexpr int64_t kRows = 16;

}  // namespace

Loop FuseBlocks(Schedule& s, std::vector<Loop> blocks) {
  if (blocks.size() < 2) return blocks.empty() ? Loop{} : blocks[0];
  const Loop rows = blocks[blocks.size() - 2], columns = blocks.back();
  const Value group = s.SamplePerfectTile(rows, {.parts = 2, .innermost = kRows}, "raster");
  const std::vector<Loop> parts = s.Split(rows, {group});
  s.Reorder({parts[0], columns, parts[1]});
  blocks.resize(blocks.size() - 2);
  blocks.insert(blocks.end(), {parts[0], columns, parts[1]});
  return s.Fuse(blocks);
}

}  // namespace kiln
