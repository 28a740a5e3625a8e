// Nchwc-Layout: gives a convolution with the channels first a workspace in the layout NCHWc.
//
//   for o, h, w, c, r, s: Y[o, h, w] += X[c, h + r, w + s] * K[o, c, r, s]
//   -> lanes of 16:  X.cache[c, h, w] = X[c, h, w]         layout (c / 16, h, w, c % 16)
//                    for h, w, o, c, r, s: Y.cache[o, h, w] += X.cache[..] * K[..]
//                    Y[o, h, w] = Y.cache[o, h, w]         Y.cache: layout (o / 16, h, w, o % 16)
//
// An input that another block writes, such as a padding block, gets the new layout itself and is not copied.
// The channels of the result are then innermost in memory, so tiles vectorize along them.
//
// Applies to: unscheduled blocks, under Policy::kNchwcLayout, that reuse what they load and move a window over
// dimensions behind the channels of an input. Inputs and result get the layout only if vectors divide their channels.
// Structure:  nchwc = no | yes
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/default_modules.h"
#include "modules/layout_map.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

struct Stages {
  std::vector<std::pair<int, size_t>> images;  // operand number, dimension of its channels
  std::optional<size_t> result;                // dimension of the channels
};

Stages FindStages(const Program& p, Id block, int64_t lanes) {
  const std::vector<Id> around = LoopsAround(p, block);
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  const std::vector<Id> operands = ReadBuffers(p, block);
  const auto fills = [&](int loop) { return p.loop(around[loop]).extent.Known() % lanes == 0; };
  Stages stages;
  std::set<int> walked;  // positions of the loops that an image's index depends on
  for (int i = 0; i < std::ssize(operands); ++i) {
    const AccessPattern access = AccessOf(p, block, operands[i]);
    bool windows = false;
    std::optional<size_t> channels;
    for (size_t d = 0; d < access.steps.size(); ++d) {
      windows |= access.loops[d].size() > 1 && channels.has_value();
      const int loop = access.steps[d];
      if (loop >= 0 && reduces[loop] && !channels) channels = d;
    }
    if (!windows) continue;
    for (const std::set<int>& loops : access.loops) walked.insert(loops.begin(), loops.end());
    if (fills(access.steps[*channels])) stages.images.emplace_back(i, *channels);
  }
  const Bindings bindings = ResolveBindings(p, block);
  const Indices result = ResultIndices(p, block);
  for (size_t d = 0; d + 1 < result.size() && !walked.empty(); ++d) {
    const std::vector<Id> loops = LoopsAlong(bindings, result[d]);
    if (loops.size() != 1) continue;
    const auto loop = static_cast<int>(std::find(around.begin(), around.end(), loops[0]) - around.begin());
    if (!walked.contains(loop) && fills(loop)) stages.result = d;
  }
  return stages;
}

// Returns the layout that splits dimension `channels` into blocks of `lanes`; for dimension 1 of 3 and 16 lanes:
//   (d0, d1, d2) -> (d0, d1/16, d2, d1%16)
std::string InBlocks(size_t dims, size_t channels, int64_t lanes) {
  const std::vector<std::string> names = DimNames(dims);
  std::vector<std::string> axes = names;
  absl::StrAppend(&axes[channels], "/", lanes);
  axes.push_back(absl::StrCat(names[channels], "%", lanes));
  return LayoutMap(names, axes);
}

}  // namespace

void NchwcLayout(Schedule& s, Block block) {
  if (!s.ok() || !s.target().policies.Has(Policy::kNchwcLayout) ||
      s.Skip(CheckReuses(s.program(), s.node(block))) || s.Skip(CheckUnscheduled(s.program(), s.node(block))))
    return;
  const Program p = s.program();
  const Id node = s.node(block), result = WrittenBuffers(p, node)[0];
  const int64_t lanes = s.target().vector_bytes / SizeOf(p.buffers[result].dtype);
  const Stages stages = FindStages(p, node, lanes);
  if (s.Skip(stages.images.empty() && !stages.result
                 ? absl::FailedPreconditionError(absl::StrCat(
                       Describe(p, node), " has no channels before its windows that vectors fill"))
                 : absl::OkStatus()))
    return;
  if (s.Choose("nchwc", {"no", "yes"}) == 0) return;
  for (const auto& [operand, channels] : stages.images) {
    const Id image = ReadBuffers(p, node)[operand];
    if (p.buffers[image].role != Role::kTemporary) s.CacheRead(block, operand);
    s.TransformLayout(block, operand, InBlocks(p.buffers[image].shape.count, channels, lanes));
  }
  if (!stages.result) return;
  s.CacheWrite(block);
  s.TransformLayout(block, -1, InBlocks(p.buffers[result].shape.count, *stages.result, lanes));
}

KILN_MODULE("nchwc-layout", NchwcLayout);

}  // namespace kiln
