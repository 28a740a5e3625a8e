#include "lang/schedule/rewrite.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

std::optional<IndexSum> Rewritten(const Program& p, Id mark, const BodyRewriter::IterRule& iter,
                                  const std::vector<int64_t>& extents) {
  return Substitute(
      p.SumOf(mark), [&](Source s) { return std::optional<IndexSum>(iter(s.id)); },
      [&](Source s) { return extents[s.id]; });
}

// Copies a mark with each live loop in it replaced, and the definitions of dead loops likewise. `clones` maps marks to
// their copies. A mark that is reached twice is copied once, so that quotients and remainders of it still have one
// source.
Id CloneMark(Program& program, Id mark, const std::function<Source(Id loop)>& replace,
             std::map<Id, Id>& clones) {
  const auto known = clones.find(mark);
  if (known != clones.end()) return known->second;
  IndexSum sum = program.SumOf(mark);
  for (IndexSplit& split : sum.splits) {
    if (split.source.kind == Source::Kind::kMark) {
      split.source = Source::Mark(CloneMark(program, split.source.id, replace, clones));
    } else if (split.source.kind == Source::Kind::kLoop) {
      const Node& node = program.nodes[split.source.id];
      if (node.kind == Node::Kind::kDead) {
        split.source =
            Source::Mark(CloneMark(program, program.loops[node.index].definition, replace, clones));
      } else {
        split.source = replace(split.source.id);
      }
    }
  }
  return clones[mark] = program.AddMark(sum, program.marks[mark].extent);
}

Range MarksOf(const Expr& e) { return e.op == Op::kLoad ? e.AsLoad().index : e.AsWithin().marks; }

}  // namespace

BodyRewriter::BodyRewriter(Program& program, LoadRule load, IterRule iter, std::vector<int64_t> extents)
    : program_(program),
      load_(std::move(load)),
      iter_(std::move(iter)),
      extents_(std::move(extents)),
      copier_(program, program,
              {.replace =
                   [this](Id id) {
                     const Expr e = program_.exprs[id];
                     return load_ && e.op == Op::kLoad ? load_(e) : kNone;
                   },
               .mark = [this](Id mark) { return Index(mark); }}) {}

Id BodyRewriter::Index(Id mark) {
  const std::optional<IndexSum> sum = Rewritten(program_, mark, iter_, extents_);
  if (!sum.has_value()) return kNone;
  return *sum == program_.SumOf(mark) ? mark : program_.AddMark(*sum, program_.marks[mark].extent);
}

namespace {

bool CanSubstituteIn(const Program& program, Id expr, const BodyRewriter::IterRule& iter,
                     const std::vector<int64_t>& extents, absl::flat_hash_set<Id>& seen) {
  if (!seen.insert(expr).second) return true;
  const Expr& e = program.exprs[expr];
  if (e.op == Op::kIndex) return Rewritten(program, e.AsIndex(), iter, extents).has_value();
  if (e.op == Op::kLoad || e.op == Op::kWithin) {
    for (const Id mark : program.List(MarksOf(e))) {
      if (!Rewritten(program, mark, iter, extents).has_value()) return false;
    }
  }
  return absl::c_all_of(e.Operands(),
                        [&](Id operand) { return CanSubstituteIn(program, operand, iter, extents, seen); });
}

}  // namespace

bool CanSubstitute(const Program& program, Id expr, const BodyRewriter::IterRule& iter,
                   const std::vector<int64_t>& extents) {
  absl::flat_hash_set<Id> seen;
  return CanSubstituteIn(program, expr, iter, extents, seen);
}

std::vector<int64_t> IterExtents(const Program& program, Id block) {
  std::vector<int64_t> extents;
  for (const Iter& iter : program.Iters(program.block(block).iters)) extents.push_back(iter.extent.Known());
  return extents;
}

void RemoveWithEmptyLoops(Program& program, Id node) {
  Id parent = program.nodes[node].parent;
  program.Detach(node);
  while (program.IsLoop(parent) && program.nodes[parent].first == kNone) {
    const Id up = program.nodes[parent].parent;
    program.Kill(parent);
    parent = up;
  }
}

Id NestOver(Program& program, Id block, const std::vector<DimRange>& ranges, bool tainted) {
  const Range iters = program.block(block).iters;
  Id outermost = kNone, parent = kNone;
  for (int i = 0; i < iters.count; ++i) {
    const Iter iter = program.iters[iters.begin + i];
    const Id loop = program.AddLoop(program.Text(iter.name), ranges[i].extent);
    program.loop(loop).tainted = tainted;
    program.iters[iters.begin + i].binding =
        program.AddMark(ranges[i].base + IndexSum::Of(Source::Loop(loop)), iter.extent);
    if (parent == kNone) {
      outermost = loop;
    } else {
      program.Append(parent, loop);
    }
    parent = loop;
  }
  if (parent == kNone) return block;
  program.Append(parent, block);
  return outermost;
}

std::vector<DimRange> WholeRanges(const Program& program, Id block) {
  std::vector<DimRange> ranges;
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    ranges.push_back({IndexSum::Constant(0), iter.extent.Known()});
  }
  return ranges;
}

Id CloneMark(Program& program, Id mark, const std::function<Source(Id loop)>& replace) {
  std::map<Id, Id> clones;
  return CloneMark(program, mark, replace, clones);
}

Id AddCopyBlock(Program& program, absl::string_view name, Id source, Id dest) {
  const auto shape_span = program.Dims(program.buffers[source].shape);
  const std::vector<Extent> shape(shape_span.begin(), shape_span.end());
  BlockNode block;
  block.name = program.AddName(program.FreshName(name));
  block.iters = {static_cast<int32_t>(program.iters.size()), static_cast<int32_t>(shape.size())};
  std::vector<int32_t> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    program.iters.push_back({program.AddName(absl::StrCat("c", d)), shape[d], IterKind::kSpatial, kNone});
    index.push_back(program.AddMark(IndexSum::Of(Source::Iter(static_cast<int32_t>(d))), shape[d]));
  }
  const Range list = program.AddList(index);
  const Id load = program.AddExpr(Expr::Load(program.buffers[source].dtype, source, list));
  block.values = program.AddList({load});
  block.dests = {static_cast<int32_t>(program.accesses.size()), 1};
  program.accesses.push_back({dest, list});
  block.provenance.kind = Provenance::Kind::kCopy;
  block.provenance.origin = source;
  return program.AddBlock(block);
}

Id ChildTowards(const Program& program, Id ancestor, Id node) {
  while (program.nodes[node].parent != ancestor) {
    node = program.nodes[node].parent;
    KILN_CHECK(node != kNone, "not an ancestor");
  }
  return node;
}

bool AnyTainted(const Program& program, Id from, Id to_excluded) {
  for (Id at = from; at != kNone && at != to_excluded; at = program.nodes[at].parent) {
    if (program.IsLoop(at) && program.loop(at).tainted) return true;
  }
  return false;
}

}  // namespace kiln
