#include "lang/graph/forward_copies.h"

#include <optional>
#include <vector>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/reshape.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Returns the temporary that the block copies element by element in memory order. Returns kNone for other blocks, and
// if another block reads the temporary or writes the copy, if dtypes differ, or if either buffer has a layout.
Id CopiedAsItIs(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1) return kNone;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  const Access& dest = p.Accesses(b.dests)[0];
  if (value.op != Op::kLoad) return kNone;
  const auto [source, index] = value.AsLoad();
  const Buffer &from = p.buffers[source], &to = p.buffers[dest.buffer];
  if (from.role != Role::kTemporary || to.role == Role::kStatus || from.dtype != to.dtype ||
      from.layout.axes.count != 0 || to.layout.axes.count != 0 || Readers(p, source).size() != 1 ||
      Writers(p, dest.buffer).size() != 1)
    return kNone;
  const std::vector<int64_t> extents = IterExtents(p, block);
  const auto extent_of = [&](Source source) { return extents[source.id]; };
  const bool in_order = Simplify(FlatIndex(p, source, index), extent_of) ==
                        Simplify(FlatIndex(p, dest.buffer, dest.index), extent_of);
  return in_order ? source : kNone;
}

// Translates `index`, which a writer uses for the temporary, to the index of the same element of the copy's result.
// Returns nullopt if the algebra cannot express it.
std::optional<Range> Through(Program& p, Id copy, Id temporary, const Access& copied, Range index,
                             const std::vector<int64_t>& extents) {
  const auto by_element = ItersByElement(p, copy, temporary);
  if (!by_element.has_value()) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Extent& extent : p.Dims(p.buffers[temporary].shape)) shape.push_back(extent.Known());
  const auto iter = [&](Source s) { return std::optional<IndexSum>((*by_element)[s.id]); };
  const auto dim = [&](Source s) { return std::optional<IndexSum>(p.SumOf(p.List(index)[s.id])); };
  std::vector<int32_t> marks;
  for (const Id mark : p.List(copied.index)) {
    std::optional<IndexSum> sum = Substitute(p.SumOf(mark), iter, [&](Source s) { return shape[s.id]; });
    if (sum.has_value()) sum = Substitute(*sum, dim, [&](Source s) { return extents[s.id]; });
    if (!sum.has_value()) return std::nullopt;
    marks.push_back(p.AddMark(*sum, p.marks[mark].extent));
  }
  return p.AddList(marks);
}

bool Bypassed(Program& p, Id copy) {
  const Id temporary = CopiedAsItIs(p, copy);
  if (temporary == kNone) return false;
  const Access copied = p.Accesses(p.block(copy).dests)[0];
  std::vector<std::pair<int32_t, Range>> found;
  for (const Id writer : Writers(p, temporary)) {
    const Range dests = p.block(writer).dests;
    for (int32_t at = dests.begin; at < dests.begin + dests.count; ++at) {
      if (p.accesses[at].buffer != temporary) continue;
      const auto index = Through(p, copy, temporary, copied, p.accesses[at].index, IterExtents(p, writer));
      if (!index.has_value()) return false;
      found.emplace_back(at, *index);
    }
  }
  if (found.empty()) return false;
  for (const auto& [at, index] : found) p.accesses[at] = {copied.buffer, index};
  RemoveWithEmptyLoops(p, copy);
  p.Kill(copy);
  return true;
}

}  // namespace

bool ForwardCopies(Program& program) {
  bool any = false;
  for (const Id block : Blocks(program)) any = Bypassed(program, block) || any;
  return any;
}

}  // namespace kiln
