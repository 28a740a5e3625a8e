// decompose-padding
//
//   for i in 0..12: B[i] = (0 <= i-2 < 8 ? A[i-2] : 0)     ->      for i in 0..12: B[i] = 0
//                                                                  for i in 0..8: B[i+2] = A[i]
//
// Splits a padding block into two. A new block stores the constant everywhere; it gets copies of the loops at and below
// the given one. The old block then has instances only inside the bounds. Its loops at or below the given one shrink to
// the bounds where an iter is such a loop plus a constant (Shrink). Elsewhere the bounds remain as guards.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

absl::Status CheckPadding(const Program& p, Id block, Id loop) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.dests.count != 1 || p.nodes[block].first != kNone)
    return No(absl::StrCat(Describe(p, block), " is not a plain store"));
  const Expr& value = p.exprs[p.List(b.values)[0]];
  if (value.op != Op::kWithin || p.exprs[value.AsWithin().otherwise].op != Op::kConstant)
    return No(absl::StrCat(Describe(p, block), " does not pad what it stores with a constant"));
  const auto extent_of = [&](Source iter) { return p.Iters(b.iters)[iter.id].extent.Known(); };
  for (const Id mark : p.List(value.AsWithin().marks)) {
    const Interval values = Bounds(p.SumOf(mark), extent_of);
    if (values.max < 0 || values.min >= p.marks[mark].extent.Known())
      return No(absl::StrCat(Describe(p, block), " stores the constant everywhere"));
  }
  if (Writers(p, p.Accesses(b.dests)[0].buffer).size() != 1) return No("the padded buffer has other writers");
  if (const absl::Status status = CheckNotWithin(p, block); !status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  if (std::find(loops.begin(), loops.end(), loop) == loops.end())
    return No(absl::StrCat(Describe(p, loop), " is not around ", Describe(p, block)));
  for (Id at = p.nodes[loop].parent; p.IsLoop(at); at = p.nodes[at].parent) {
    const LoopKind kind = p.loop(at).kind;
    const bool in_turn =
        kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || kind == LoopKind::kPipelined;
    if (in_turn || p.loop(at).extent.Known() == 1 || TellsApart(p, block, at)) continue;
    return No(absl::StrCat("iterations of ", Describe(p, at), ", which is ", ToString(kind),
                           ", repeat it: one would fill what others have stored"));
  }
  return absl::OkStatus();
}

// Adds a block that stores the constant in all instances of `block`, below detached copies of the loops from `loop`
// inwards. Returns the new block; `outermost` receives the outermost copy.
Id AddFill(Program& p, Id block, Id loop, Id constant, Id& outermost) {
  const BlockNode old = p.block(block);
  const std::vector<Id> loops = LoopsAround(p, block);
  std::map<Id, Id> copies;
  Id parent = kNone;
  for (auto at = std::find(loops.begin(), loops.end(), loop); at != loops.end(); ++at) {
    const LoopNode source = p.loop(*at);
    const Id copy = p.AddLoop(p.Text(source.name), source.extent, source.kind);
    p.loop(copy).tainted = source.tainted;
    copies[*at] = copy;
    if (parent == kNone) {
      outermost = copy;
    } else {
      p.Append(parent, copy);
    }
    parent = copy;
  }
  BlockNode fill = old;
  fill.name = p.AddName(p.FreshName(absl::StrCat(p.Text(old.name), ".fill")));
  fill.values = p.AddList({constant});
  fill.provenance = {Provenance::Kind::kPadding, old.provenance.origin, old.provenance.map};
  fill.iters.begin = static_cast<int32_t>(p.iters.size());
  for (int i = 0; i < old.iters.count; ++i) {
    Iter iter = p.iters[old.iters.begin + i];
    iter.binding =
        CloneMark(p, iter.binding, [&](Id l) { return Source::Loop(copies.count(l) != 0 ? copies[l] : l); });
    p.iters.push_back(iter);
  }
  const Id node = p.AddBlock(fill);
  p.Append(parent, node);
  return node;
}

// Shrinks the loop of an iter to the range that the condition `mark` allows. Does so only if the iter is its loop plus
// a constant, the other bindings are sums of other live loops, and the loop is `loop` or below it and around this block
// alone. Otherwise, and if no iteration remains, changes nothing.
void Shrink(Program& p, Id block, Id loop, Id mark) {
  const std::optional<SimpleIndex> simple = AsSimpleIndex(p, mark);
  if (!simple.has_value()) return;
  Iter& iter = p.Iters(p.block(block).iters)[simple->iter];
  const IndexSum bound = p.SumOf(iter.binding);
  if (bound.splits.size() != 1 || !(bound.splits[0] == IndexSplit{bound.splits[0].source})) return;
  const Source source = bound.splits[0].source;
  if (source.kind != Source::Kind::kLoop || !p.IsLoop(source.id) || !IsAncestor(p, loop, source.id) ||
      BlocksBelow(p, source.id).size() != 1) {
    return;
  }
  for (const Iter& other : p.Iters(p.block(block).iters)) {
    if (other.binding == iter.binding) continue;
    for (const IndexSplit& split : p.SumOf(other.binding).splits) {
      if (split.source.kind != Source::Kind::kLoop || !p.IsLoop(split.source.id) || split.source == source)
        return;
    }
  }
  // Computes the range first .. last of iterations in which the iter lies in its extent and the mark satisfies the
  // condition.
  const int64_t offset = bound.offset, shift = bound.offset + simple->offset;
  const int64_t first = std::max({int64_t{0}, -offset, -shift});
  const int64_t last = std::min({p.loop(source.id).extent.Known(), iter.extent.Known() - offset,
                                 p.marks[mark].extent.Known() - shift}) -
                       1;
  if (last < first) return;
  IndexSum moved = bound;
  moved.offset += first;
  p.loop(source.id).extent = Extent(last - first + 1);
  iter.binding = p.AddMark(moved, iter.extent);
}

absl::Status DecomposePadding(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  const absl::Status status = CheckPadding(p, block, loop);
  if (!status.ok()) return status;
  const auto [marks, inside, otherwise] = p.exprs[p.List(p.block(block).values)[0]].AsWithin();
  Id outermost = kNone;
  const Id fill = AddFill(p, block, loop, otherwise, outermost);
  p.InsertBefore(loop, outermost);
  const auto old = p.List(p.block(block).domain), within = p.List(marks);
  std::vector<int32_t> domain(old.begin(), old.end());
  const std::vector<int32_t> conditions(within.begin(), within.end());
  for (const Id mark : conditions) {
    Shrink(p, block, loop, mark);
    domain.push_back(mark);
  }
  const Range values = p.AddList({inside}), domain_list = p.AddList(domain);
  p.block(block).values = values;
  p.block(block).domain = domain_list;
  call.Return(fill);
  return absl::OkStatus();
}

const Primitive kDecomposePadding{
    .name = "decompose-padding",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "fill",
    .doc =
        "Divides a block that stores a value within bounds and a constant elsewhere. A new block, before "
        "a loop, stores the constant everywhere. The block itself then stores only within the bounds.\n"
        "for i in 0..12: B[i] = (0 <= i-2 < 8 ? A[i-2] : 0)\n->\n"
        "for i in 0..12: B[i] = 0\n"
        "for i in 0..8: B[i+2] = A[i]\n"
        "Does not apply if the block stores anything else or the constant alone, if its buffer has other writers, or if "
        "iterations that run at once repeat the block.",
    .apply = DecomposePadding,
};
KILN_PRIMITIVE(kDecomposePadding);

}  // namespace
}  // namespace kiln
