#include "modules/tiling/loop_order.h"

#include <algorithm>

#include "lang/analysis/access.h"
#include "lang/analysis/axes.h"
#include "lang/analysis/dataflow.h"

namespace kiln {

void OrderByResult(Schedule& s, Block block) {
  if (!s.ok()) return;
  const std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<ResultAxis> axes = ResultAxes(s.program(), ResolveBindings(s.program(), s.node(block)));
  // For each loop, the dimension of the result that it moves along (its index in `axes`, axes.size() for a reduction
  // loop) and the loop's position. Sorted, these pairs are the new order.
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto along = std::find_if(axes.begin(), axes.end(), [&](const ResultAxis& axis) {
      return std::find(axis.loops.begin(), axis.loops.end(), s.node(loops[i])) != axis.loops.end();
    });
    order.push_back({along - axes.begin(), i});
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  std::sort(order.begin(), order.end());
  std::vector<Loop> sorted;
  for (const auto& [axis, position] : order) sorted.push_back(loops[position]);
  s.Reorder(sorted);
}

std::vector<Loop> OrderCombine(Schedule& s, Block combine, Loop above,
                               const std::optional<VectorAxis>& axis) {
  if (!s.ok()) return {};
  std::vector<Loop> loops = s.GetLoops(combine);
  const auto at =
      std::find_if(loops.begin(), loops.end(), [&](Loop l) { return s.node(l) == s.node(above); });
  loops.erase(loops.begin(), at + 1);
  const Program& p = s.program();
  // Lists the iters that index the result, in memory order: `turned` those along the vectorized dimension `axis`,
  // `walked` those along other dimensions. A combining block has one loop for each iter. In `turned`, an iter that
  // moves within a step of `axis` comes before the iter that makes the steps.
  std::vector<int> walked, turned;
  const Indices result = ResultIndices(p, s.node(combine));
  for (const size_t d : DimsInMemory(p, WrittenBuffers(p, s.node(combine))[0]))
    for (const IndexSplit& split : result[d].splits) {
      std::vector<int>& list = axis && axis->dim == d ? turned : walked;
      const bool within_step = &list == &turned && split.scale < axis->step;
      list.insert(within_step ? list.begin() : list.end(), split.source.id);
    }
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

}  // namespace kiln
