#include "lang/analysis/bindings.h"

#include <algorithm>

#include "lang/base/check.h"
#include "lang/base/defect.h"

namespace kiln {

// Returns the mark that defines a source: a mark itself, or the mark that a dead loop stands for. Returns kNone for a
// live loop or an iter.
Id Resolver::Definition(Source source) const {
  if (source.kind == Source::Kind::kMark) return source.id;
  if (source.kind == Source::Kind::kIter) return kNone;
  const Node& node = program_.nodes[source.id];
  return node.kind == Node::Kind::kLoop ? kNone : program_.loops[node.index].definition;
}

IndexSum Resolver::Resolve(Source source) {
  const Id definition = Definition(source);
  return definition == kNone ? IndexSum::Of(source) : ResolveChecked(definition);
}

IndexSum Resolver::Resolve(Id mark, Interval* bounds) {
  const IndexMark& m = program_.marks[mark];
  IndexSum sum = IndexSum::Constant(m.offset);
  bool divides_marks = false;
  for (const IndexSplit& split : program_.Splits(m.splits)) {
    const Id definition = Definition(split.source);
    if (definition == kNone) {
      sum.splits.push_back(split);
      continue;
    }
    IndexSum value = ResolveChecked(definition);
    // Drops a remainder that has no effect because lower * extent is at least the extent of the source. Values beyond
    // that extent (of imperfect tiles) belong to no instance. Keeps a remainder by 1, which gives 0.
    const Source source = Source::Mark(definition);
    const bool whole = split.extent != 1 && split.lower * split.extent >= extents_(source);
    const int64_t extent = whole ? 0 : split.extent;
    if (split.lower != 1 || extent != 0) {
      std::optional<IndexSum> digit = DivMod(value, split.lower, extent, extents_);
      value =
          digit.has_value() ? *std::move(digit) : IndexSum{0, {IndexSplit{source, 1, split.lower, extent}}};
    }
    sum.offset += value.offset * split.scale;
    for (IndexSplit& part : value.splits) {
      part.scale *= split.scale;
      sum.splits.push_back(part);
      divides_marks |= part.source.kind == Source::Kind::kMark;
    }
  }
  sum = Simplify(sum, extents_, bounds);
  // Tries again to express divisions of marks. Simplify may have joined digits that could not be expressed alone, such
  // as m / 4 * 4 + m % 4 to m.
  for (size_t i = 0; divides_marks && i < sum.splits.size();) {
    const IndexSplit split = sum.splits[i++];
    if (split.source.kind != Source::Kind::kMark) continue;
    const bool whole = split.lower == 1 && split.extent == 0;
    std::optional<IndexSum> value = ResolveChecked(split.source.id);
    if (!whole) value = DivMod(*value, split.lower, split.extent, extents_);
    if (!value.has_value()) continue;
    sum.splits.erase(sum.splits.begin() + static_cast<int64_t>(i) - 1);
    sum = Simplify(std::move(sum) + std::move(*value) * split.scale, extents_, bounds);
    i = 0;
  }
  return sum;
}

IndexSum Resolver::ResolveChecked(Id mark) {
  const IndexMark& m = program_.marks[mark];
  if (m.splits.count == 1 && m.offset == 0) {  // a mark that renames another mark with the same extent
    const IndexSplit& s = program_.splits[m.splits.begin];
    const Id definition = s.scale == 1 && s.lower == 1 && s.extent == 0 ? Definition(s.source) : kNone;
    if (definition != kNone && program_.marks[definition].extent == m.extent)
      return ResolveChecked(definition);
  }
  Interval bounds;
  IndexSum value = Resolve(mark, &bounds);
  const int64_t extent = m.extent.UpperBound();
  if (bounds.min < 0 || bounds.max >= extent + KILN_DEFECT("bindings.guard")) {
    const auto same = [&](const Guard& g) { return g.extent == extent && g.value == value; };
    if (std::none_of(guards_.begin(), guards_.end(), same)) guards_.push_back({value, extent});
  }
  return value;
}

namespace {

// Rewrites a sum over loops and the iters of `around.block`: replaces the iters by their sums in `around`. Keeps the
// mark of an iter's binding (Source::Mark) if the iter is divided and the index algebra cannot express the quotient.
IndexSum Outside(const Program& program, const Bindings& around, const IndexSum& sum, ExtentOf extents) {
  IndexSum outside = IndexSum::Constant(sum.offset);
  for (const IndexSplit& split : sum.splits) {
    if (split.source.kind != Source::Kind::kIter) {
      outside.splits.push_back(split);
      continue;
    }
    const Iter& iter = program.Iters(program.block(around.block).iters)[split.source.id];
    const int64_t extent = split.lower * split.extent < iter.extent.UpperBound() ? split.extent : 0;
    std::optional<IndexSum> value = around.iters[split.source.id];
    if (split.lower != 1 || extent != 0) value = DivMod(*value, split.lower, extent, extents);
    if (!value.has_value())
      value = IndexSum{0, {IndexSplit{Source::Mark(iter.binding), 1, split.lower, extent}}};
    outside = std::move(outside) + std::move(*value) * split.scale;
  }
  return Simplify(outside, extents);
}

}  // namespace

Bindings ResolveBindings(const Program& program, Id block) {
  Bindings result{block, {}, {}};
  const Id enclosing = EnclosingBlock(program, block);
  Resolver resolver(program, enclosing);
  result.iters.reserve(program.block(block).iters.count);
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    result.iters.push_back(resolver.ResolveChecked(iter.binding));
  }
  result.guards = resolver.guards();
  for (const Id mark : program.List(program.block(block).domain)) {
    const IndexSum value = Outside(program, result, program.SumOf(mark), resolver.extents());
    const Interval bounds = Bounds(value, resolver.extents());
    const int64_t extent = program.marks[mark].extent.UpperBound();
    if (bounds.min < 0 || bounds.max >= extent) result.guards.push_back({value, extent});
  }
  if (enclosing == kNone) return result;
  Bindings around = ResolveBindings(program, enclosing);
  for (IndexSum& iter : result.iters) iter = Outside(program, around, iter, Extents(program));
  for (const Guard& guard : result.guards) {
    const IndexSum value = Outside(program, around, guard.value, Extents(program));
    const auto same = [&](const Guard& g) { return g.extent == guard.extent && g.value == value; };
    if (std::none_of(around.guards.begin(), around.guards.end(), same))
      around.guards.push_back({value, guard.extent});
  }
  result.guards = std::move(around.guards);
  return result;
}

std::optional<int64_t> StepOf(const Program& program, Id block, Id mark, Id loop) {
  int64_t total = 0;
  for (const IndexSplit& split : program.Splits(program.marks[mark].splits)) {
    const Source source = split.source;
    std::optional<int64_t> step;
    if (source.kind == Source::Kind::kMark) {
      step = StepOf(program, block, source.id, loop);
    } else if (source.kind == Source::Kind::kIter) {
      const Id binding = program.Iters(program.block(block).iters)[source.id].binding;
      step = StepOf(program, EnclosingBlock(program, block), binding, loop);
    } else if (const Id definition = program.loop(source.id).definition; definition != kNone) {
      step = StepOf(program, block, definition, loop);
    } else {
      step = source.id == loop;
    }
    if (!step.has_value() || (*step != 0 && (split.lower != 1 || split.extent != 0))) return std::nullopt;
    total += *step * split.scale;
  }
  return total;
}

Id EnclosingBlock(const Program& program, Id node) {
  Id at = program.nodes[node].parent;
  while (at != kNone && !program.IsBlock(at)) at = program.nodes[at].parent;
  return at;
}

std::vector<Id> LoopsAround(const Program& program, Id node) {
  size_t depth = 0;
  const Id innermost = program.nodes[node].parent;
  for (Id at = innermost; at != kNone; at = program.nodes[at].parent) depth += program.IsLoop(at);
  std::vector<Id> loops(depth);
  for (Id at = innermost; depth > 0; at = program.nodes[at].parent) {
    if (program.IsLoop(at)) loops[--depth] = at;
  }
  return loops;
}

std::vector<bool> Feeds(const Program& program, Id block, IterKind kind) {
  const std::vector<Id> loops = LoopsAround(program, block);
  std::vector<bool> feeds(loops.size(), false);
  // Sets `feeds` for the loops that the bindings of these iters name, directly or through marks, enclosing blocks and
  // dead loops. Does not simplify: a binding may depend on every source that it names.
  struct Use {
    Source source;
    Id scope;  // the block whose iters the source may refer to
  };
  absl::InlinedVector<Use, 16> work;
  const auto push = [&](Id mark, Id scope) {
    for (const IndexSplit& s : program.Splits(program.marks[mark].splits)) work.push_back({s.source, scope});
  };
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    if (iter.kind == kind) push(iter.binding, EnclosingBlock(program, block));
  }
  while (!work.empty()) {
    const auto [s, scope] = work.back();
    work.pop_back();
    if (s.kind == Source::Kind::kMark) {
      push(s.id, scope);
    } else if (s.kind == Source::Kind::kIter) {
      push(program.Iters(program.block(scope).iters)[s.id].binding, EnclosingBlock(program, scope));
    } else {
      const auto at = std::find(loops.begin(), loops.end(), s.id);
      if (at != loops.end()) {
        feeds[at - loops.begin()] = true;
      } else if (program.nodes[s.id].kind == Node::Kind::kDead && !KILN_DEFECT("bindings.feeds")) {
        push(program.loops[program.nodes[s.id].index].definition, scope);
      }
    }
  }
  return feeds;
}

}  // namespace kiln
