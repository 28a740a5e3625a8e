#include "lang/lanes.h"

#include <algorithm>
#include <optional>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"

namespace kiln {
namespace {

// How many elements an access of a block moves from one iteration of the loop to the next; nullopt where that
// is not the same everywhere.
std::optional<int64_t> Stride(const Program& p, Id block, Id buffer, absl::Span<const int32_t> index,
                              Id loop) {
  const auto shape = p.Dims(p.buffers[buffer].shape);
  int64_t stride = 0, row = 1;
  for (size_t d = index.size(); d-- > 0;) {
    std::optional<int64_t> step = StepOf(p, block, index[d], loop);
    if (!step.has_value()) {
      const Bindings bindings = ResolveBindings(p, block);
      const std::optional<Sum> value = Substitute(
          p.SumOf(index[d]), [&](Source s) { return std::optional<Sum>(bindings.iters[s.id]); }, Extents(p));
      if (!value.has_value()) return std::nullopt;
      step = 0;
      for (const Split& split : value->splits) {
        if (split.source.kind == Source::Kind::kMark) return std::nullopt;
        if (split.source != Source::Loop(loop)) continue;
        if (split.lower != 1 || split.extent != 0) return std::nullopt;
        *step += split.scale;
      }
    }
    stride += *step * row;
    row *= shape[d].max;
  }
  return stride;
}

// Whether the last axis of the layout is the dimension itself.
bool IsLastAxis(const Program& p, const Layout& layout, size_t dim) {
  const Sum last = p.SumOf(p.List(layout.axes).back());
  return last.splits.size() == 1 && last.splits[0].lower == 1 &&
         last.splits[0].source == Source::Iter(static_cast<int32_t>(dim));
}

}  // namespace

bool Lanes(const Program& p, Id block, Id loop) {
  const bool reduces = UseOf(p, block, loop).reduction;
  for (const Access& dest : p.Accesses(p.block(block).dests)) {
    const std::optional<int64_t> stride = Stride(p, block, dest.buffer, p.List(dest.index), loop);
    if (!stride.has_value() || (reduces ? *stride != 0 : *stride != 1)) return false;
  }
  for (const Id load : Loads(p, block)) {
    const Expr& e = p.exprs[load];
    const std::optional<int64_t> stride = Stride(p, block, e.a, p.List({e.b, e.c}), loop);
    if (!stride.has_value() || *stride < 0 || *stride > 4) return false;
  }
  return true;
}

int64_t WidestResult(const Program& p, const std::vector<Id>& blocks) {
  int64_t widest = 1;
  for (const Id block : blocks) {
    for (const Access& dest : p.Accesses(p.block(block).dests))
      widest = std::max(widest, SizeOf(p.buffers[dest.buffer].dtype));
  }
  return widest;
}

int64_t Together(const Program& p, Id block, Id loop, int64_t limit, int64_t vector) {
  const auto visit = [&](Id id, absl::Span<const int32_t> index) {
    const Layout& layout = p.buffers[id].layout;
    if (layout.axes.count == 0) return;
    for (size_t d = 0; d < index.size(); ++d) {
      if (StepOf(p, block, index[d], loop) == 0) continue;
      limit =
          std::min(limit, IsLastAxis(p, layout, d) ? p.marks[p.List(layout.axes).back()].extent.max : vector);
    }
  };
  for (const Access& dest : p.Accesses(p.block(block).dests)) visit(dest.buffer, p.List(dest.index));
  for (const Id load : Loads(p, block)) visit(p.exprs[load].a, p.List({p.exprs[load].b, p.exprs[load].c}));
  return limit;
}

bool StoresApart(const Program& p, Id block, Id loop) {
  for (const Access& dest : p.Accesses(p.block(block).dests)) {
    const Layout& layout = p.buffers[dest.buffer].layout;
    const auto index = p.List(dest.index);
    for (size_t d = 0; layout.axes.count > 0 && d < index.size(); ++d)
      if (StepOf(p, block, index[d], loop) != 0 && !IsLastAxis(p, layout, d)) return true;
  }
  return false;
}

int64_t LaneCount(int64_t extent, int64_t together, int64_t limit, int64_t vector) {
  if (extent <= together) return extent;
  for (int64_t lanes = together; lanes >= vector; --lanes) {
    if (extent % lanes == 0 && lanes % vector == 0) return lanes;
  }
  return extent <= limit ? extent : std::min(vector, limit);
}

}  // namespace kiln
