#include "lang/graph/views.h"

#include <map>
#include <set>
#include <utility>
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

struct Place {
  Id buffer = kNone;
  Range index;
};

// The position in `whole` of the first element of `part`, if the block's instances are the elements of `part`, in order, and
// lie one after the other in `whole`.
std::optional<int64_t> FirstOf(const Program& p, Id block, const Place& part, const Place& whole) {
  const std::vector<int64_t> extents = IterExtents(p, block);
  const auto extent_of = [&](Source source) { return extents[source.id]; };
  const IndexSum own = Simplify(FlatIndex(p, part.buffer, part.index), extent_of);
  IndexSum in = Simplify(FlatIndex(p, whole.buffer, whole.index), extent_of);
  const int64_t first = in.offset;
  in.offset = 0;
  int64_t instances = 1;
  for (const int64_t extent : extents) instances *= extent;
  // As many instances as elements, all of them in bounds and at different elements.
  const IndexMap map{.domain = extents, .results = {own}};
  const Interval bounds = Bounds(own, extent_of);
  if (!(own == in) || instances != ElementsOf(p, part.buffer) || bounds.min != 0 ||
      bounds.max != instances - 1 || !IsBijective(map))
    return std::nullopt;
  return first;
}

}  // namespace

std::optional<View> AsView(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1)
    return std::nullopt;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  if (value.op != Op::kLoad) return std::nullopt;
  const Place from{value.AsLoad().buffer, value.AsLoad().index},
      to{p.Accesses(b.dests)[0].buffer, p.Accesses(b.dests)[0].index};
  const DType type = p.buffers[from.buffer].dtype;
  if (!IsPlainTemporary(p, from.buffer) || !IsPlainTemporary(p, to.buffer) ||
      type != p.buffers[to.buffer].dtype)
    return std::nullopt;
  if (const auto first = FirstOf(p, block, from, to); first.has_value())
    return View{from.buffer, to.buffer, *first * SizeOf(type)};
  if (const auto first = FirstOf(p, block, to, from); first.has_value())
    return View{to.buffer, from.buffer, *first * SizeOf(type), true};
  return std::nullopt;
}

bool IsView(const Program& p, Id block) { return AnnotationOf(p, p.block(block).annotations, kView) != 0; }

namespace {

void Mark(Program& p, Id block) { SetAnnotation(p, p.block(block).annotations, kView, 1); }

// Marks slices of buffers that are not in `parts`.
int MarkSlices(Program& p, const std::set<Id>& parts, absl::Span<const char> prepared, int64_t alignment) {
  std::map<Id, std::set<std::pair<int64_t, int64_t>>> taken;  // by whole: the bytes of its slices
  std::set<Id> slices;
  int count = 0;
  for (const Id block : Blocks(p)) {
    const std::optional<View> view = AsView(p, block);
    if (!view.has_value() || !view->slice || view->offset % alignment != 0 || prepared[view->whole] != 0 ||
        parts.contains(view->whole) || parts.contains(view->part) || slices.contains(view->whole) ||
        taken.contains(view->part) || Writers(p, view->part).size() != 1)
      continue;
    const int64_t end = view->offset + BytesOf(p, view->part);
    auto& of_whole = taken[view->whole];
    if (absl::c_any_of(of_whole, [&](const auto& t) { return t.first < end && view->offset < t.second; }))
      continue;
    of_whole.insert({view->offset, end});
    slices.insert(view->part);
    Mark(p, block);
    ++count;
  }
  return count;
}

}  // namespace

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
      if (!view.has_value() || view->slice || view->offset % alignment != 0 || prepared[view->part] != 0)
        return false;
      elements += ElementsOf(p, view->part);
      return !parts.contains(view->part) && now.insert(view->part).second;
    });
    if (!all || writers.size() < 2 || elements != ElementsOf(p, whole)) continue;
    parts.insert(now.begin(), now.end());
    for (const Id block : writers) Mark(p, block);
    count += static_cast<int>(writers.size());
  }
  return count + MarkSlices(p, parts, prepared, alignment);
}

}  // namespace kiln
