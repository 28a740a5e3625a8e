#include "lang/analysis/straight_line.h"

namespace kiln {

int64_t StraightLine(const Program& program, Id node, absl::FunctionRef<int64_t(Id block)> block,
                     absl::FunctionRef<int64_t(Id loop, int64_t line)> loop) {
  if (program.IsBlock(node)) return program.nodes[node].first == kNone ? block(node) : 0;
  int64_t line = 0;
  bool straight = true;
  for (Id child = program.nodes[node].first; child != kNone; child = program.nodes[child].next) {
    const int64_t below = StraightLine(program, child, block, loop);
    straight &= below > 0;
    line += below;
  }
  return node == kRoot || !straight ? 0 : loop(node, line);
}

}  // namespace kiln
