#include "backends/lower/passes/lane_groups.h"

#include <algorithm>
#include <bit>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/schedule/lanes.h"

namespace kiln::plan {
namespace {

int64_t LanesAtOnce(const Program& p, Id loop, int64_t vector_bytes) {
  const int64_t lanes = p.loop(loop).extent.Known();
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  const auto reduces = [&](Id block) { return UseOf(p, block, loop).reduction; };
  const int64_t vector = std::max<int64_t>(1, vector_bytes / WidestResult(p, blocks));
  const bool whole = lanes % vector == 0 && std::has_single_bit(static_cast<uint64_t>(lanes / vector));
  return lanes <= vector || whole || std::any_of(blocks.begin(), blocks.end(), reduces) ? lanes : vector;
}

}  // namespace

void LaneGroups(const Program& program, Nodes& nodes, int64_t vector_bytes) {
  for (Node& node : nodes) {
    if (Loop* loop = std::get_if<Loop>(&node.what); loop != nullptr && loop->run == Run::kLanes)
      loop->lanes = LanesAtOnce(program, loop->loop, vector_bytes);
    for (Nodes& arm : node.arms) LaneGroups(program, arm, vector_bytes);
  }
}

}  // namespace kiln::plan
