// loop-partition
//
//   for i in 0..E: S(i)      ->      for i0 in 0..e0: S(i0)
//                                    for i1 in 0..e1: S(e0 + i1)
//
// Conditions that fail only near one end of the loop then hold in one part: a main part without guards, and peeled
// parts.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Returns a detached copy of a tree of loops and blocks. Blocks get fresh names. `sources` maps loops around the tree
// to what replaces them in the copy; CloneTree adds the loops of the tree.
Id CloneTree(Program& p, Id node, std::map<Id, Source>& sources) {
  Id copy;
  if (p.IsLoop(node)) {
    const LoopNode loop = p.loop(node);
    copy = p.AddLoop(p.Text(loop.name), loop.extent, loop.kind);
    p.loop(copy).tainted = loop.tainted;
    p.loop(copy).annotations = loop.annotations;
    sources[node] = Source::Loop(copy);
  } else {
    BlockNode block = p.block(node);
    block.name = p.AddName(p.FreshName(p.Text(block.name)));
    const Range old = block.iters;
    block.iters.begin = static_cast<int32_t>(p.iters.size());
    for (int i = 0; i < old.count; ++i) {
      Iter iter = p.iters[old.begin + i];
      iter.binding = CloneMark(p, iter.binding, [&](Id loop) {
        const auto at = sources.find(loop);
        return at != sources.end() ? at->second : Source::Loop(loop);
      });
      p.iters.push_back(iter);
    }
    copy = p.AddBlock(block);
  }
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    p.Append(copy, CloneTree(p, child, sources));
  }
  return copy;
}

absl::Status CheckPartition(const Program& p, Id loop) {
  const LoopNode& node = p.loop(loop);
  if (!node.extent.constant()) return absl::FailedPreconditionError("the extent of the loop is not constant");
  if (node.kind != LoopKind::kSerial) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, loop), " is ", ToString(node.kind),
                                                      "; only a serial loop can be partitioned"));
  }
  for (const Id below : LoopsBelow(p, loop)) {
    const LoopKind kind = p.loop(below).kind;
    if (kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || kind == LoopKind::kPipelined) continue;
    const absl::Status shared = CheckShared(p, below);
    if (shared.ok()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("copies of ", Describe(p, below), ", which is ", ToString(kind),
                     ", would share what each iteration has for itself: ", shared.message()));
  }
  for (const Id block : BlocksBelow(p, loop)) {
    if (p.block(block).monoid == kNone || p.block(block).accumulates) continue;
    const std::vector<Id> loops = LoopsAround(p, block);
    const size_t start = ReductionStart(p, block);
    if (start < loops.size() && IsAncestor(p, loops[start], loop)) {
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, block), " starts its reduction at ", Describe(p, loops[start]),
                       ", and each part would start it anew; decompose-reduction first"));
    }
  }
  return absl::OkStatus();
}

absl::Status LoopPartition(Call& call) {
  Program& p = call.program();
  const Id loop = call.node(0);
  const absl::Status status = CheckPartition(p, loop);
  if (!status.ok()) return status;
  const LoopNode old = p.loop(loop);
  absl::InlinedVector<int64_t, 6> sizes = call.numbers(1);
  int64_t known = 0, open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
    } else if (sizes[i] < 1 || sizes[i] > (int64_t{1} << 40)) {
      return absl::InvalidArgumentError(
          absl::StrCat("sizes ", absl::StrJoin(sizes, " "), ": each is positive, and at most one is -1"));
    } else {
      known += sizes[i];
    }
  }
  if (sizes.size() < 2 || sizes.size() > 3)
    return absl::InvalidArgumentError(absl::StrCat("there are two or three parts, not ", sizes.size()));
  const int64_t extent = old.extent.Known();
  if (open >= 0 ? known >= extent : known != extent) {
    return absl::FailedPreconditionError(absl::StrCat("sizes ", absl::StrJoin(sizes, " "), " give ", known,
                                                      open >= 0 ? " and more" : "", ", but ",
                                                      Describe(p, loop), " has extent ", extent));
  }
  if (open >= 0) sizes[open] = extent - known;

  // The number of the part that keeps the existing blocks and loops: the first of two, or the second of three. The
  // others get copies.
  const size_t main = (sizes.size() - 1) / 2;
  std::vector<Id> parts;
  std::vector<Source> values;
  int64_t offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(p.AddLoop(absl::StrCat(p.Text(old.name), "_", i), sizes[i]));
    p.loop(parts[i]).tainted = old.tainted || call.sampled(1);
    p.loop(parts[i]).annotations = old.annotations;
    p.nodes[parts[i]].prepare = p.nodes[loop].prepare;
    IndexSum value = IndexSum::Of(Source::Loop(parts[i]));
    value.offset = offset;
    values.push_back(Source::Mark(p.AddMark(value, old.extent)));
    offset += sizes[i];
    p.InsertBefore(loop, parts[i]);
    call.Return(parts[i]);
    if (i == main) continue;
    std::map<Id, Source> sources{{loop, values[i]}};
    for (Id child = p.nodes[loop].first; child != kNone; child = p.nodes[child].next) {
      p.Append(parts[i], CloneTree(p, child, sources));
    }
  }
  while (p.nodes[loop].first != kNone) {
    const Id child = p.nodes[loop].first;
    p.Detach(child);
    p.Append(parts[main], child);
  }
  p.loops[p.nodes[loop].index].definition = values[main].id;
  p.Kill(loop);
  return absl::OkStatus();
}

const Primitive kLoopPartition{
    .name = "loop-partition",
    .operands = {{"loop", OperandKind::kLoop}, {"sizes", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "first ... last",
    .doc =
        "Splits a serial loop into two or three parts that run one after the other. Each part has a copy "
        "of the loop body. A size -1 stands for the remaining iterations. The first of two parts, or the "
        "middle of three, keeps the blocks.\n"
        "for i in 0..E: S(i)\n->\n"
        "for i0 in 0..e0: S(i0)\n"
        "for i1 in 0..e1: S(e0 + i1)\n"
        "Does not apply if the sizes do not add up to the extent, if the loop is at or below the one at "
        "which a reduction starts, or if iterations of an inner parallel loop have private copies of a "
        "buffer, which the parts would share.",
    .apply = LoopPartition,
};
KILN_PRIMITIVE(kLoopPartition);

}  // namespace
}  // namespace kiln
