// decompose-reduction
//
//   for i: for k:                          for i:
//     C[i] sum= f(i, k)          ->          C[i] = 0
//                                            for k: C[i] += f(i, k)
//
// Moves the initialization of a reduction to a block of its own before a loop. The new block gets copies of the loops
// at and below the given one that feed spatial iters.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Checks that the initial values of the reduction are written before the loop.
absl::Status CheckInitial(const Program& p, Id block, Id loop) {
  for (const Id buffer : ReadBuffers(p, block)) {
    if (!ReadsInitially(p, block, buffer)) continue;
    for (const Id writer : Writers(p, buffer)) {
      if (Before(p, writer, loop) && !IsAncestor(p, loop, writer)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, block), " starts from ", p.Text(p.buffers[buffer].name), ", which ",
                       Describe(p, writer), " does not write before ", Describe(p, loop)));
    }
  }
  return absl::OkStatus();
}

// Checks that below the loop no other block writes the result, or reads it before the reduction, since the
// initialization moves before the loop.
absl::Status CheckOthers(const Program& p, Id block, Id loop) {
  for (const Id buffer : WrittenBuffers(p, block)) {
    std::vector<Id> others = Writers(p, buffer);
    for (const Id reader : Readers(p, buffer))
      if (Before(p, reader, block)) others.push_back(reader);
    for (const Id other : others) {
      if (other == block || !IsAncestor(p, loop, other)) continue;
      return absl::FailedPreconditionError(absl::StrCat(Describe(p, other), ", below ", Describe(p, loop),
                                                        ", uses ", p.Text(p.buffers[buffer].name), " too"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBlock(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid == kNone)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " is not a reduction"));
  if (b.accumulates) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " is initialized by another block already"));
  }
  if (b.domain.count != 0) return absl::FailedPreconditionError("the block's instances are not a box");
  return CheckNotWithin(p, block);
}

// Checks that an initialization before the loop loops[position] would run once for each result: no loop outside of it
// feeds the reduction, the initial values are there, and no other block is in the way.
absl::Status CheckLoop(const Program& p, Id block, const std::vector<Id>& loops, size_t position) {
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  for (size_t i = 0; i < position; ++i) {
    if (reduces[i] && !KILN_DEFECT("decompose-reduction.late")) {
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, loops[i]), ", outside of ", Describe(p, loops[position]),
                       ", feeds the reduction; the initialization must be outside of it"));
    }
  }
  if (absl::Status initial = CheckInitial(p, block, loops[position]); !initial.ok()) return initial;
  if (absl::Status others = CheckOthers(p, block, loops[position]); !others.ok()) return others;
  if (KILN_DEFECT("decompose-reduction.twice")) return absl::OkStatus();
  return CheckReducesOnce(p, block, {loops.begin() + static_cast<int64_t>(position), loops.end()});
}

struct Nest {
  std::map<Id, Id> copies;  // copy of each loop
  Id outermost = kNone, innermost = kNone;
};

// Returns a detached nest with copies of those loops of loops[position ..] that feed spatial iters of the block.
Nest CopySpatialLoops(Program& p, Id block, const std::vector<Id>& loops, size_t position) {
  const std::vector<bool> spatial = Feeds(p, block, IterKind::kSpatial);
  Nest nest;
  for (size_t i = position; i < loops.size(); ++i) {
    if (!spatial[i]) continue;
    const LoopNode source = p.loop(loops[i]);
    const Id copy = p.AddLoop(p.Text(source.name), source.extent, source.kind);
    p.loop(copy).tainted = source.tainted;
    nest.copies[loops[i]] = copy;
    if (nest.innermost == kNone) {
      nest.outermost = copy;
    } else {
      p.Append(nest.innermost, copy);
    }
    nest.innermost = copy;
  }
  return nest;
}

// Adds a detached block that stores the initial value of the reduction `old`. Its spatial iters are bound to the loops
// to which `copies` maps the reduction's loops, or to the same loops; its other iters are 0. Returns the block.
Id AddInitialization(Program& p, const BlockNode& old, const std::map<Id, Id>& copies) {
  BlockNode init;
  init.name = p.AddName(p.FreshName(absl::StrCat(p.Text(old.name), ".init")));
  init.dests = old.dests;
  init.values = old.initial.count != 0 && !KILN_DEFECT("decompose-reduction.identity")
                    ? old.initial
                    : p.monoids[old.monoid].identity;
  init.provenance = {Provenance::Kind::kInit, old.provenance.origin, {}};
  // Keeps reduction iters in the list, as spatial iters with the single value 0, so that the positions of iters do not
  // change.
  init.iters = {static_cast<int32_t>(p.iters.size()), old.iters.count};
  for (int i = 0; i < old.iters.count; ++i) {
    Iter iter = p.iters[old.iters.begin + i];
    if (iter.kind == IterKind::kSpatial) {
      iter.binding = CloneMark(p, iter.binding,
                               [&](Id l) { return Source::Loop(copies.contains(l) ? copies.at(l) : l); });
    } else {
      iter.kind = IterKind::kSpatial;
      iter.extent = Extent(1);
      iter.binding = p.AddMark(IndexSum::Constant(0), 1);
    }
    p.iters.push_back(iter);
  }
  return p.AddBlock(init);
}

absl::Status DecomposeReduction(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  if (absl::Status status = CheckBlock(p, block); !status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  const size_t position = std::find(loops.begin(), loops.end(), loop) - loops.begin();
  if (position == loops.size())
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " is not around ", Describe(p, block)));
  if (absl::Status status = CheckLoop(p, block, loops, position); !status.ok()) return status;

  const Nest nest = CopySpatialLoops(p, block, loops, position);
  const BlockNode old = p.block(block);
  const Id init = AddInitialization(p, old, nest.copies);
  if (nest.innermost != kNone) p.Append(nest.innermost, init);
  p.InsertBefore(loop, nest.outermost == kNone ? init : nest.outermost);
  p.block(block).accumulates = !KILN_DEFECT("decompose-reduction.forgotten");
  p.block(block).initial = {};
  call.Return(init);
  return absl::OkStatus();
}

const Primitive kDecomposeReduction{
    .name = "decompose-reduction",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "init",
    .doc =
        "Makes the initialization of a reduction a separate block, before a loop.\n"
        "for i: for k: C[i] sum= f(i, k)\n->\n"
        "for i:\n"
        "  C[i] = 0\n"
        "  for k: C[i] += f(i, k)\n"
        "Does not apply if a loop outside the given one feeds the reduction, if its initial values are not "
        "written before the loop, or if another block below the loop writes the result too.",
    .apply = DecomposeReduction,
};
KILN_PRIMITIVE(kDecomposeReduction);

}  // namespace
}  // namespace kiln
