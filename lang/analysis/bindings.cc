#include "lang/analysis/bindings.h"

#include <algorithm>

#include "lang/check.h"
#include "lang/defect.h"

namespace kiln {

int64_t Extents::operator()(Source source) const {
  switch (source.kind) {
    case Source::Kind::kLoop:
      return program_.loop(source.id).extent.max;
    case Source::Kind::kMark:
      return program_.marks[source.id].extent.max;
    case Source::Kind::kIter:
      KILN_CHECK(block_ != kNone, "an iter outside of any block");
      return program_.Iters(program_.block(block_).iters)[source.id].extent.max;
  }
  return 0;
}

Sum Resolver::Resolve(Source source) {
  if (source.kind == Source::Kind::kMark) return ResolveChecked(source.id);
  if (source.kind == Source::Kind::kIter) return Sum::Of(source);
  const Node& node = program_.nodes[source.id];
  if (node.kind == Node::Kind::kLoop) return Sum::Of(source);
  return ResolveChecked(program_.loops[node.index].definition);
}

Sum Resolver::Resolve(Id mark) {
  const Mark& m = program_.marks[mark];
  Sum sum = Sum::Constant(m.offset);
  for (const Split& split : program_.Splits(m.splits)) {
    Sum value = Resolve(split.source);
    Source source = split.source;
    if (source.kind == Source::Kind::kLoop && program_.nodes[source.id].kind == Node::Kind::kDead) {
      source = Source::Mark(program_.loops[program_.nodes[source.id].index].definition);
    }
    // A remainder beyond the source's extent is none, even where the tiles are imperfect.
    const bool remainder = split.extent != 0 && split.lower * split.extent < extents_(source);
    if (split.lower != 1 || remainder) {
      const std::optional<Sum> digit = DivMod(value, split.lower, remainder ? split.extent : 0, extents_);
      value =
          digit.has_value() ? *digit : Sum{0, {Split{source, 1, split.lower, remainder ? split.extent : 0}}};
    }
    sum = std::move(sum) + std::move(value) * split.scale;
  }
  sum = Simplify(sum, extents_);
  // Digits that stayed may have joined to some that can be expressed.
  for (size_t i = 0; i < sum.splits.size();) {
    const Split split = sum.splits[i++];
    if (split.source.kind != Source::Kind::kMark) continue;
    const bool whole = split.lower == 1 && split.extent == 0;
    std::optional<Sum> value = ResolveChecked(split.source.id);
    if (!whole) value = DivMod(*value, split.lower, split.extent, extents_);
    if (!value.has_value()) continue;
    sum.splits.erase(sum.splits.begin() + static_cast<int64_t>(i) - 1);
    sum = Simplify(std::move(sum) + std::move(*value) * split.scale, extents_);
    i = 0;
  }
  return sum;
}

Sum Resolver::ResolveChecked(Id mark) {
  Sum value = Resolve(mark);
  const int64_t extent = program_.marks[mark].extent.max;
  const Interval bounds = Bounds(value, extents_);
  if (bounds.min < 0 || bounds.max >= extent + KILN_DEFECT("bindings.guard")) {
    const auto same = [&](const Guard& g) { return g.extent == extent && g.value == value; };
    if (std::none_of(guards_.begin(), guards_.end(), same)) guards_.push_back({value, extent});
  }
  return value;
}

Bindings ResolveBindings(const Program& program, Id block) {
  Resolver resolver(program, EnclosingBlock(program, block));
  Bindings result;
  result.iters.reserve(program.block(block).iters.count);
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    result.iters.push_back(resolver.ResolveChecked(iter.binding));
  }
  result.guards = resolver.guards();
  for (const Id mark : program.List(program.block(block).domain)) {
    const std::optional<Sum> value = Substitute(
        program.SumOf(mark), [&](Source s) { return std::optional<Sum>(result.iters[s.id]); },
        resolver.extents());
    KILN_CHECK(value.has_value(), "a domain mark divides what cannot be divided");
    const Interval bounds = Bounds(*value, resolver.extents());
    const int64_t extent = program.marks[mark].extent.max;
    if (bounds.min < 0 || bounds.max >= extent) result.guards.push_back({*value, extent});
  }
  return result;
}

Id EnclosingBlock(const Program& program, Id node) {
  Id at = program.nodes[node].parent;
  while (at != kNone && !program.IsBlock(at)) at = program.nodes[at].parent;
  return at;
}

std::vector<Id> LoopsAround(const Program& program, Id node) {
  size_t depth = 0;
  const Id innermost = program.nodes[node].parent;
  for (Id at = innermost; at != kNone && program.IsLoop(at); at = program.nodes[at].parent) ++depth;
  std::vector<Id> loops(depth);
  for (Id at = innermost; depth > 0; at = program.nodes[at].parent) loops[--depth] = at;
  return loops;
}

std::vector<bool> Feeds(const Program& program, Id block, IterKind kind) {
  const std::vector<Id> loops = LoopsAround(program, block);
  std::vector<bool> feeds(loops.size(), false);
  // Follows definitions without simplifying: what a binding names is what it may depend on.
  absl::InlinedVector<Source, 16> work;
  const auto push = [&](Id mark) {
    for (const Split& s : program.Splits(program.marks[mark].splits)) work.push_back(s.source);
  };
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    if (iter.kind == kind) push(iter.binding);
  }
  while (!work.empty()) {
    const Source s = work.back();
    work.pop_back();
    if (s.kind == Source::Kind::kMark) {
      push(s.id);
    } else if (s.kind == Source::Kind::kLoop) {
      const auto at = std::find(loops.begin(), loops.end(), s.id);
      if (at != loops.end()) {
        feeds[at - loops.begin()] = true;
      } else if (program.nodes[s.id].kind == Node::Kind::kDead && !KILN_DEFECT("bindings.feeds")) {
        push(program.loops[program.nodes[s.id].index].definition);
      }
    }
  }
  return feeds;
}

}  // namespace kiln
