#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "modules/gpu/gpu.h"

namespace kiln {

std::vector<int> LoopsAlongRows(const Program& p, Id block) {
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  std::vector<int> along;
  for (const Id buffer : ReadBuffers(p, block)) {
    const AccessPattern access = AccessOf(p, block, buffer);
    const int loop = access.loops.size() > 1 && access.loops.back().size() == 1 ? access.steps.back() : -1;
    along.push_back(loop >= 0 && reduces[loop] ? loop : -1);
  }
  return along;
}

void LayOutTile(Schedule& s, Block copy, Loop slice) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const int dims = p.buffers[WrittenBuffers(p, s.node(copy))[0]].shape.count;
  const Value drawn = s.SamplePerfectTile(slice, {.parts = 2, .innermost = 0}, "panel");
  std::vector<std::string> names, axes;
  for (int d = 0; d < dims; ++d) names.push_back(absl::StrCat("d", d));
  axes = names;
  axes.insert(axes.begin(), absl::StrCat(names.back(), "/$0"));
  absl::StrAppend(&axes.back(), "%$0");
  const std::string map =
      absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
  s.TransformLayout(copy, -1, map, {s.Part(drawn, 1)});
}

}  // namespace kiln
