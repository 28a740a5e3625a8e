#include "lang/schedule/lanes.h"

#include <algorithm>
#include <optional>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/region.h"

namespace kiln {
namespace {

// Returns by how many elements an access of a block moves from one iteration of the loop to the next, in row-major
// order. Returns nullopt if that is not the same everywhere.
std::optional<int64_t> Stride(const Program& p, Id block, Id buffer, absl::Span<const int32_t> index,
                              Id loop) {
  const auto shape = p.Dims(p.buffers[buffer].shape);
  int64_t stride = 0, row = 1;
  for (size_t d = index.size(); d-- > 0;) {
    std::optional<int64_t> step = StepOf(p, block, index[d], loop);
    if (!step.has_value()) {
      const Bindings bindings = ResolveBindings(p, block);
      const std::optional<IndexSum> value = Substitute(
          p.SumOf(index[d]), [&](Source s) { return std::optional<IndexSum>(bindings.iters[s.id]); },
          Extents(p));
      if (!value.has_value()) return std::nullopt;
      step = 0;
      for (const IndexSplit& split : value->splits) {
        if (split.source.kind == Source::Kind::kMark) return std::nullopt;
        if (split.source != Source::Loop(loop)) continue;
        if (split.lower != 1 || split.extent != 0) return std::nullopt;
        *step += split.scale;
      }
    }
    stride += *step * row;
    row *= shape[d].Known();
  }
  return stride;
}

// True if the last axis of the layout is the dimension itself or its remainder, as j % 16 for the dimension j in (i, j)
// -> (j/16, i, j%16).
bool IsLastAxis(const Program& p, const Layout& layout, size_t dim) {
  const IndexSum last = p.SumOf(p.List(layout.axes).back());
  return last.splits.size() == 1 && last.splits[0].lower == 1 &&
         last.splits[0].source == Source::Iter(static_cast<int32_t>(dim));
}

// True if the last index of some gather grows by 1 from one iteration of the loop to the next, as in a gather of rows.
bool GathersNeighbours(const Program& p, Id block, Id loop) {
  const std::vector<Id> gathers = Gathers(p, block);
  return std::any_of(gathers.begin(), gathers.end(), [&](Id gather) {
    const std::vector<int32_t> marks = GatherMarks(p, block, p.exprs[gather]);
    return !marks.empty() && marks.back() != kNone && StepOf(p, block, marks.back(), loop) == 1;
  });
}

enum class Moves { kNot, kToNeighbours, kApart };

// Returns whether one iteration of the loop moves an access not at all, to the neighbor in memory, or farther.
Moves MovesAlong(const Program& p, Id block, Id buffer, absl::Span<const int32_t> index, Id loop) {
  const Layout& layout = p.buffers[buffer].layout;
  const std::optional<int64_t> stride = Stride(p, block, buffer, index, loop);
  if (stride == 0) return Moves::kNot;
  if (layout.axes.count == 0) return stride == 1 ? Moves::kToNeighbours : Moves::kApart;
  int64_t moving = 0;
  bool last = true;
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<int64_t> step = StepOf(p, block, index[d], loop);
    if (step == 0) continue;
    ++moving;
    last = last && step == 1 && IsLastAxis(p, layout, d);
  }
  return moving == 1 && last ? Moves::kToNeighbours : Moves::kApart;
}

}  // namespace

std::optional<Transposing> AsTransposing(const Program& p, Id block) {
  const auto dests = p.Accesses(p.block(block).dests);
  const std::vector<Id> loads = Loads(p, block);
  if (p.block(block).monoid != kNone || dests.size() != 1 || loads.empty() || p.nodes[block].first != kNone)
    return std::nullopt;
  Transposing found;
  for (Id at = p.nodes[block].parent; at != kRoot && p.IsLoop(at) && p.nodes[at].first == p.nodes[at].last &&
                                      p.loop(at).kind == LoopKind::kSerial;
       at = p.nodes[at].parent) {
    found.nest.insert(found.nest.begin(), at);
    if (p.loop(at).extent.Known() == 1) continue;
    const Moves writes = MovesAlong(p, block, dests[0].buffer, p.List(dests[0].index), at);
    bool reads = GathersNeighbours(p, block, at), apart = false;
    for (const Id load : loads) {
      const Expr& e = p.exprs[load];
      const Moves moves = MovesAlong(p, block, e.AsLoad().buffer, p.List(e.AsLoad().index), at);
      reads |= moves == Moves::kToNeighbours;
      apart |= moves == Moves::kApart;
    }
    if (writes == Moves::kToNeighbours && (!reads || apart) && found.rows == kNone) found.rows = at;
    if (writes == Moves::kApart && reads && !apart && found.lanes == kNone) found.lanes = at;
  }
  if (found.rows == kNone || found.lanes == kNone) return std::nullopt;
  const Layout& layout = p.buffers[dests[0].buffer].layout;
  if (layout.axes.count > 0) found.panel = p.marks[p.List(layout.axes).back()].extent.Known();
  return found;
}

bool Lanes(const Program& p, Id block, Id loop) {
  const bool reduces = UseOf(p, block, loop).reduction;
  const auto step = [&](Id buffer, absl::Span<const int32_t> index) -> std::optional<int64_t> {
    if (MovesAlong(p, block, buffer, index, loop) == Moves::kToNeighbours) return 1;
    return Stride(p, block, buffer, index, loop);
  };
  for (const Access& dest : p.Accesses(p.block(block).dests)) {
    const std::optional<int64_t> stride = step(dest.buffer, p.List(dest.index));
    if (!stride.has_value() || (reduces ? *stride != 0 : *stride != 1)) return false;
  }
  for (const Id load : Loads(p, block)) {
    const Expr& e = p.exprs[load];
    const std::optional<int64_t> stride = step(e.AsLoad().buffer, p.List(e.AsLoad().index));
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
      limit = std::min(
          limit, IsLastAxis(p, layout, d) ? p.marks[p.List(layout.axes).back()].extent.Known() : vector);
    }
  };
  for (const Access& dest : p.Accesses(p.block(block).dests)) visit(dest.buffer, p.List(dest.index));
  for (const Id load : Loads(p, block)) {
    const auto [buffer, index] = p.exprs[load].AsLoad();
    visit(buffer, p.List(index));
  }
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
