#include "lang/graph/views.h"

#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/reshape.h"
#include "lang/graph/outline.h"
#include "lang/program/layout.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

constexpr absl::string_view kView = "view";

bool IsPlainTemporary(const Program& p, Id buffer) {
  return p.buffers[buffer].role == Role::kTemporary && p.buffers[buffer].layout.axes.count == 0;
}

}  // namespace

std::optional<View> AsView(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1)
    return std::nullopt;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  const Access& dest = p.Accesses(b.dests)[0];
  if (value.op != Op::kLoad || !IsPlainTemporary(p, dest.buffer)) return std::nullopt;
  const auto [part, index] = value.AsLoad();
  if (!IsPlainTemporary(p, part) || p.buffers[part].dtype != p.buffers[dest.buffer].dtype)
    return std::nullopt;
  const std::vector<int64_t> extents = IterExtents(p, block);
  const auto extent_of = [&](Source source) { return extents[source.id]; };
  const IndexSum from = Simplify(FlatIndex(p, part, index), extent_of);
  IndexSum to = Simplify(FlatIndex(p, dest.buffer, dest.index), extent_of);
  const int64_t first = to.offset;
  to.offset = 0;
  int64_t instances = 1;
  for (const int64_t extent : extents) instances *= extent;
  // As many instances as elements, all of them in bounds and at different elements.
  const IndexMap map{.domain = extents, .results = {from}};
  const Interval bounds = Bounds(from, extent_of);
  if (!(from == to) || instances != ElementsOf(p, part) || bounds.min != 0 || bounds.max != instances - 1 ||
      !IsBijective(map))
    return std::nullopt;
  return View{part, dest.buffer, first * SizeOf(p.buffers[part].dtype)};
}

bool IsView(const Program& p, Id block) { return AnnotationOf(p, p.block(block).annotations, kView) != 0; }

int MarkViews(Program& p, int64_t alignment) {
  const std::vector<char> prepared = PreparedBuffers(p);
  std::set<Id> parts;
  int count = 0;
  for (Id whole = 0; whole < static_cast<Id>(p.buffers.size()); ++whole) {
    if (p.buffers[whole].role != Role::kTemporary || prepared[whole] != 0) continue;
    const std::vector<Id> writers = Writers(p, whole);
    std::set<Id> now;
    int64_t elements = 0;
    const bool all = absl::c_all_of(writers, [&](Id block) {
      const auto view = AsView(p, block);
      if (!view.has_value() || view->offset % alignment != 0 || prepared[view->part] != 0) return false;
      elements += ElementsOf(p, view->part);
      return !parts.contains(view->part) && now.insert(view->part).second;
    });
    if (!all || writers.size() < 2 || elements != ElementsOf(p, whole)) continue;
    parts.insert(now.begin(), now.end());
    for (const Id block : writers) SetAnnotation(p, p.block(block).annotations, kView, 1);
    count += static_cast<int>(writers.size());
  }
  return count;
}

}  // namespace kiln
