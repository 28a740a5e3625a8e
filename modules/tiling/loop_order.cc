// The loops of a block, and of what combines its tiles, in the order in which its result lies in memory.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/dataflow.h"
#include "modules/tiling/tile_loops.h"

namespace kiln {

std::string LayoutMap(const std::vector<std::string>& names, const std::vector<std::string>& axes) {
  return absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
}

std::vector<Id> LoopsOfIndex(const Bindings& bindings, const Sum& index) {
  std::vector<Id> loops;
  for (const Split& split : index.splits) {
    if (split.source.kind != Source::Kind::kIter) continue;
    for (const Split& part : bindings.iters[split.source.id].splits)
      if (part.source.kind == Source::Kind::kLoop) loops.push_back(part.source.id);
  }
  return loops;
}

std::vector<size_t> DimsInMemory(const Program& p, Id buffer) {
  const size_t dims = p.buffers[buffer].shape.count;
  std::vector<size_t> order;  // by the last axis of each
  const auto move_last = [&](size_t d) {
    std::erase(order, d);
    order.push_back(d);
  };
  for (size_t d = 0; d < dims; ++d) move_last(d);
  for (const Id axis : p.List(p.buffers[buffer].layout.axes))
    for (const Split& split : p.SumOf(axis).splits) move_last(split.source.id);
  return order;
}

void OrderByResult(Schedule& s, Block block) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const std::vector<Loop> loops = s.GetLoops(block);
  const Bindings bindings = ResolveBindings(p, s.node(block));
  std::vector<std::vector<Id>> dims;
  const Access& dest = p.Accesses(p.block(s.node(block)).dests)[0];
  for (const size_t d : DimsInMemory(p, dest.buffer))
    dims.push_back(LoopsOfIndex(bindings, p.SumOf(p.List(dest.index)[d])));
  std::vector<std::pair<size_t, size_t>> order;  // dimension (reductions: beyond all), position
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto dim = std::find_if(dims.begin(), dims.end(), [&](const std::vector<Id>& moving) {
      return std::find(moving.begin(), moving.end(), s.node(loops[i])) != moving.end();
    });
    order.push_back({dim - dims.begin(), i});
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  std::sort(order.begin(), order.end());
  std::vector<Loop> sorted;
  for (const auto& [dim, position] : order) sorted.push_back(loops[position]);
  s.Reorder(sorted);
}

std::vector<Loop> OrderCombine(Schedule& s, Block combine, Loop above, const std::optional<Across>& across) {
  if (!s.ok()) return {};
  std::vector<Loop> loops = s.GetLoops(combine);
  const auto at =
      std::find_if(loops.begin(), loops.end(), [&](Loop l) { return s.node(l) == s.node(above); });
  loops.erase(loops.begin(), at + 1);
  const Program& p = s.program();
  std::vector<int> walked, turned;  // iters
  const Access& dest = p.Accesses(p.block(s.node(combine)).dests)[0];
  for (const size_t d : DimsInMemory(p, dest.buffer))
    for (const Split& split : p.SumOf(p.List(dest.index)[d]).splits)
      (across && across->dim == d ? turned : walked).push_back(split.source.id);
  walked.insert(walked.end(), turned.begin(), turned.end());
  const auto walks = [&](int iter) { return std::find(walked.begin(), walked.end(), iter) - walked.begin(); };
  std::vector<Loop> order;
  for (int iter = 0; iter < std::ssize(loops); ++iter)
    if (walks(iter) == std::ssize(walked)) order.push_back(loops[iter]);
  for (int i = 0; i < std::ssize(walked); ++i)
    if (walked[i] < std::ssize(loops) && walks(walked[i]) == i) order.push_back(loops[walked[i]]);
  if (!std::equal(order.begin(), order.end(), loops.begin(),
                  [](Loop a, Loop b) { return a.number == b.number; }))
    s.Reorder(order);
  return order;
}

Loop LayOutCombine(Schedule& s, Block combine, Loop above, const std::optional<Across>& across) {
  const std::vector<Loop> order = OrderCombine(s, combine, above, across);
  UnrollInner(s, order, order.size());
  return order.empty() ? Loop{} : order.back();
}

}  // namespace kiln
