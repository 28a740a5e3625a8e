#include <algorithm>

#include "lang/analysis/bindings.h"
#include "modules/gpu/gpu.h"

namespace kiln {

void SplitReduction(Schedule& s, Block block, int64_t most) {
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  std::vector<Loop> loops = s.GetLoops(block);
  size_t longest = loops.size();
  for (size_t i = 0; i < loops.size(); ++i) {
    if (reduces[i] && (longest == loops.size() || s.ExtentOf(loops[i]) > s.ExtentOf(loops[longest])))
      longest = i;
  }
  const Value chunks =
      s.SamplePerfectTile(loops[longest], {.parts = 2, .innermost = 0, .each = {most, 0}}, "chunks");
  const std::vector<Loop> parts = s.Split(loops[longest], {chunks});
  s.Rfactor(block, parts[0]);
  loops[longest] = parts[1];
  loops.insert(loops.begin(), parts[0]);
  s.Reorder(loops);
}

}  // namespace kiln
