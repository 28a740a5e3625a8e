#include "modules/module.h"

namespace {

void SplitFirstLoop(kiln::Schedule& s, kiln::Block block) {
  const std::vector<kiln::Loop> loops = s.GetLoops(block);
  if (loops.empty() || s.Choose("split", 2) == 0) return;
  s.Split(loops[0], {kiln::kAuto, 4});
}

}  // namespace

KILN_MODULE("split-first-loop", SplitFirstLoop);
