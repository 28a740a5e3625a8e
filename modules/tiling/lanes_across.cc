// Lanes across: where the last dimension of a result fills no vectors, lanes may go along another that does.
//
//   for o, w: for c: Y[o, w] += X[c, w] * K[o, c]      (w < 7, o < 64)
//   ->
//   .. for w1 unrolled: for o1 in 16 lanes: acc[o, w] += X[c, w] * K.cache[o, c]     K.cache in panels of 16
//   .. for w1 unrolled: for o1 in 16 lanes: Y[o, w] = acc[o, w]                      lanes stored one by one
//
// Applies to: tiles of registers of multi-level-tiling. What the lanes index is packed, so that it lies in
// panels; so do the sums. Channels first are computed as channels in blocks are, and stored once as they
// were.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "modules/tiling/tile_loops.h"

namespace kiln {
namespace {

// What of an index steps by one: of groups and channels, the channels.
Sum ByOne(const Sum& index) {
  Sum by_one;
  absl::c_copy_if(index.splits, std::back_inserter(by_one.splits),
                  [](const kiln::Split& split) { return split.scale == 1; });
  return by_one;
}

}  // namespace

std::optional<Across> FindAcross(Schedule& s, Block block) {
  if (!s.ok()) return std::nullopt;
  const Program& p = s.program();
  const Access& dest = p.Accesses(p.block(s.node(block)).dests)[0];
  const int64_t lanes = s.target().vector_bytes / SizeOf(p.buffers[dest.buffer].dtype);
  const Bindings bindings = ResolveBindings(p, s.node(block));
  const std::vector<Id> around = LoopsAround(p, s.node(block));
  std::optional<Across> found;
  const auto index = p.List(dest.index);
  const std::vector<size_t> order = DimsInMemory(p, dest.buffer);
  for (const size_t d : order) {
    const std::vector<Id> loops = LoopsOfIndex(bindings, ByOne(p.SumOf(index[d])));
    const bool fills = loops.size() == 1 && p.loop(loops[0]).extent.Known() % lanes == 0;
    const bool last = d == order.back();
    const bool in_blocks = last && d + 1 < index.size();
    if (last && !in_blocks && (fills || loops.empty())) return std::nullopt;
    if (!fills) continue;
    const auto at = std::find(around.begin(), around.end(), loops[0]) - around.begin();
    found = Across{static_cast<size_t>(at), d, in_blocks};
  }
  return found;
}

void TurnLoops(Schedule& s, Block block, Across& across) {
  std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const size_t spatial = std::find(reduces.begin(), reduces.end(), true) - reduces.begin();
  const auto begin = loops.begin() + static_cast<int64_t>(across.loop);
  std::rotate(begin, begin + 1, loops.begin() + static_cast<int64_t>(spatial));
  s.Reorder(loops);
  across.loop = spatial - 1;
}

void LayOutSums(Schedule& s, Block block, size_t dim) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const std::vector<Id> consumers = Consumers(p, s.node(block));
  const auto dims = [&](Id b) { return p.List(p.Accesses(p.block(b).dests)[0].index).size(); };
  std::vector<std::string> names;
  for (size_t d = 0; d < dims(s.node(block)); ++d) names.push_back(absl::StrCat("d", d));
  std::vector<std::string> axes = names;
  const size_t lead = names.size() - dims(consumers[0]);
  std::rotate(axes.begin() + static_cast<int64_t>(lead + dim),
              axes.begin() + static_cast<int64_t>(lead + dim) + 1, axes.end());
  s.TransformLayout(block, -1, LayoutMap(names, axes));
}

}  // namespace kiln
