#include "lang/analysis/reshape.h"

#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"

namespace kiln {

IndexSum FlatIndex(const Program& p, Id buffer, Range index) {
  const auto shape = p.Dims(p.buffers[buffer].shape);
  IndexSum flat;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d].Known())
    flat = flat + p.SumOf(p.List(index)[d]) * stride;
  return flat;
}

std::optional<std::vector<IndexSum>> ItersByElement(const Program& program, Id block, Id buffer) {
  IndexMap map;
  for (const Iter& iter : program.Iters(program.block(block).iters))
    map.domain.push_back(iter.extent.Known());
  const auto shape = program.Dims(program.buffers[buffer].shape);
  bool first = true;
  for (const Id load : LoadsOf(program, block, buffer)) {
    const Expr& e = program.exprs[load];
    std::vector<IndexSum> index;
    for (const Id mark : program.List(e.AsLoad().index))
      index.push_back(Simplify(program.SumOf(mark), map.extents()));
    if (!first && index != map.results) return std::nullopt;
    map.results = index;
    first = false;
  }
  for (size_t d = 0; d < map.results.size(); ++d) {
    const Interval bounds = Bounds(map.results[d], map.extents());
    if (bounds.min != 0 || bounds.max != shape[d].Known() - 1) return std::nullopt;
  }
  const std::optional<IndexMap> inverse = Inverse(map);
  if (!inverse.has_value()) return std::nullopt;
  return inverse->results;
}

namespace {

// True if a mark divides an iter for which `shifted` is true, or takes a remainder of it. Such an iter is an index
// minus a constant, which may be negative outside of the box.
bool DividesShifted(const Program& program, Id mark, const std::vector<bool>& shifted) {
  for (const IndexSplit& split : program.Splits(program.marks[mark].splits)) {
    const bool divides = split.lower != 1 || split.extent != 0;
    if (split.source.kind == Source::Kind::kIter && shifted[split.source.id] && divides) return true;
  }
  return false;
}

bool DividesShifted(const Program& program, Id block, const std::vector<bool>& shifted,
                    absl::Span<const Id> exprs) {
  std::vector<Id> marks;
  const auto add = [&](Range list) {
    for (const Id mark : program.List(list)) marks.push_back(mark);
  };
  for (const Id id : exprs) {
    const Expr& e = program.exprs[id];
    if (e.op == Op::kLoad) add(e.AsLoad().index);
    if (e.op == Op::kWithin) add(e.AsWithin().marks);
    if (e.op == Op::kIndex) marks.push_back(e.AsIndex());
  }
  for (const Access& dest : program.Accesses(program.block(block).dests)) add(dest.index);
  add(program.block(block).provenance.map);
  return std::any_of(marks.begin(), marks.end(),
                     [&](Id mark) { return DividesShifted(program, mark, shifted); });
}

}  // namespace

std::optional<std::vector<IndexSum>> ItersByElementOfBox(const Program& program, Id block, Id buffer,
                                                         Box& box) {
  const auto iters = program.Iters(program.block(block).iters);
  const std::vector<Id> loads = LoadsOf(program, block, buffer);
  if (loads.size() != 1) return std::nullopt;
  std::vector<std::optional<IndexSum>> by_element(iters.size());
  std::vector<bool> shifted(iters.size(), false);
  box.clear();
  for (const Id mark : program.List(program.exprs[loads[0]].AsLoad().index)) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, mark);
    if (!simple.has_value() || by_element[simple->iter].has_value()) return std::nullopt;
    IndexSum iter = IndexSum::Of(Source::Iter(static_cast<int32_t>(box.size())));
    iter.offset = -simple->offset;
    by_element[simple->iter] = iter;
    shifted[simple->iter] = simple->offset != 0;
    box.push_back({simple->offset, simple->offset + iters[simple->iter].extent.Known() - 1});
  }
  const auto shape = program.Dims(program.buffers[buffer].shape);
  for (size_t d = 0; d < box.size(); ++d)  // a load within bounds may have indices outside of the buffer
    if (box[d].min < 0 || box[d].max >= shape[d].Known()) return std::nullopt;
  if (DividesShifted(program, block, shifted, BodyExprs(program, block))) return std::nullopt;
  std::vector<IndexSum> found;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!by_element[i].has_value() && iters[i].extent.Known() != 1) return std::nullopt;
    found.push_back(by_element[i].value_or(IndexSum::Constant(0)));
  }
  return found;
}

}  // namespace kiln
