#include "lang/analysis/loops.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

// True if a loop with several iterations around `loop` may carry values of the buffer from one of its iterations to
// another.
bool IsCarriedAround(const Program& p, Id buffer, Id loop) {
  for (Id at = p.nodes[loop].parent; at != kNone; at = p.nodes[at].parent) {
    if (p.IsLoop(at) && p.loop(at).extent.UpperBound() > 1 && ReadsBeside(p, buffer, at)) return true;
  }
  return false;
}

bool UsedOutside(const Program& p, Id buffer, Id loop) {
  if (p.buffers[buffer].role != Role::kTemporary) return true;
  if (KILN_DEFECT("parallel.used-outside")) return false;
  const std::vector<Id> blocks = Blocks(p);
  const bool outside = absl::c_any_of(blocks, [&](Id block) {
    return !IsAncestor(p, loop, block) && (Writes(p, block, buffer) || Reads(p, block, buffer));
  });
  return outside || IsCarriedAround(p, buffer, loop);
}

// OK if the iterations of a loop are independent. reductions_too: the loop may feed reductions. shared: no
// buffer counts as private to an iteration.
absl::Status CheckIndependent(const Program& p, Id loop, bool reductions_too, bool shared) {
  for (const Id block : BlocksBelow(p, loop)) {
    if (p.nodes[block].first != kNone) continue;
    const LoopUse use = UseOf(p, block, loop);
    if (use.reduction && !reductions_too && !KILN_DEFECT("parallel.reduction")) {
      return absl::FailedPreconditionError(absl::StrCat("loop ", p.Text(p.loop(loop).name),
                                                        " feeds a reduction of block \"",
                                                        p.Text(p.block(block).name), "\""));
    }
    if (p.loop(loop).extent.UpperBound() == 1) continue;
    Id used_outside = kNone;  // a buffer that the block writes
    for (const Id buffer : WrittenBuffers(p, block)) {
      if (used_outside == kNone && (shared || UsedOutside(p, buffer, loop))) used_outside = buffer;
      if (!ReadsBeside(p, buffer, loop)) continue;
      return absl::FailedPreconditionError(absl::StrCat("iterations of loop ", p.Text(p.loop(loop).name),
                                                        " read of ", p.Text(p.buffers[buffer].name),
                                                        " what other iterations write"));
    }
    if (used_outside == kNone) continue;
    if (use.spatial || use.reduction) {
      if (MayRepeat(p, block, used_outside, loop) || KILN_DEFECT("parallel.repeats")) continue;
      return absl::FailedPreconditionError(absl::StrCat("iterations of loop ", p.Text(p.loop(loop).name),
                                                        " repeat what others ",
                                                        p.block(block).monoid == kNone ? "write" : "reduce",
                                                        " in block \"", p.Text(p.block(block).name), "\""));
    }
    if (KILN_DEFECT("parallel.shared-write")) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "block \"", p.Text(p.block(block).name), "\" writes ", p.Text(p.buffers[used_outside].name),
        ", which does not depend on loop ", p.Text(p.loop(loop).name), " and is used outside of it"));
  }
  return absl::OkStatus();
}

void CollectLoops(const Program& p, Id node, std::vector<Id>& loops) {
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    if (p.IsLoop(child)) loops.push_back(child);
    CollectLoops(p, child, loops);
  }
}

// True if a mark may depend on a loop: follows definitions without simplifying.
bool DependsOn(const Program& p, Id mark, Id loop) {
  for (const IndexSplit& split : p.Splits(p.marks[mark].splits)) {
    const Source source = split.source;
    if (source.kind == Source::Kind::kMark && DependsOn(p, source.id, loop)) return true;
    if (source.kind != Source::Kind::kLoop) continue;
    if (source.id == loop) return true;
    const Node& node = p.nodes[source.id];
    if (node.kind == Node::Kind::kDead && DependsOn(p, p.loops[node.index].definition, loop)) return true;
  }
  return false;
}

// Returns the outermost block that is below the loop and contains `block` or is `block`: an inner block gets its loops
// through the iters of this one. Returns kNone if the loop is not around `block`.
Id TopBelow(const Program& program, Id block, Id loop) {
  Id top = block;
  for (Id at = program.nodes[block].parent; at != loop; at = program.nodes[at].parent) {
    if (at == kNone) return kNone;
    if (program.IsBlock(at)) top = at;
  }
  return top;
}

}  // namespace

absl::Status CheckMayLeave(const Program& p, Id block, const std::vector<Id>& producers, Id to) {
  for (Id at = p.nodes[block].parent; p.IsLoop(at); at = p.nodes[at].parent) {
    const LoopKind kind = p.loop(at).kind;
    if (kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || IsAncestor(p, at, to)) continue;
    for (const Id producer : producers) {
      if (p.block(producer).monoid == kNone || !IsAncestor(p, at, producer) || TellsApart(p, producer, at))
        continue;
      return absl::FailedPreconditionError(
          absl::StrCat("each iteration of loop ", p.Text(p.loop(at).name), ", which is ", ToString(kind),
                       ", reduces in block \"", p.Text(p.block(producer).name), "\" for itself; block \"",
                       p.Text(p.block(block).name), "\" cannot leave it"));
    }
  }
  return absl::OkStatus();
}

bool ReadsBeside(const Program& p, Id buffer, Id loop) {
  std::vector<Id> readers;
  std::vector<Region> written;
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(readers),
               [&](Id block) { return Reads(p, block, buffer); });
  if (readers.empty()) return false;
  for (const Id block : blocks) {
    if (Writes(p, block, buffer))
      written.push_back(WrittenRegion(p, ResolveBindings(p, block), buffer, loop));
  }
  for (const Id reader : readers) {
    const Region read = ReadRegion(p, ResolveBindings(p, reader), buffer, loop);
    const auto beside = [&](const Region& region) {
      for (size_t d = 0; d < read.size(); ++d) {
        const DimRange &r = read[d], &w = region[d];
        const auto moves = [&](const IndexSplit& s) { return s.source == Source::Loop(loop); };
        if (r.base.splits == w.base.splits &&
            std::any_of(r.base.splits.begin(), r.base.splits.end(), moves) &&
            (r.base.offset < w.base.offset || r.base.offset + r.extent > w.base.offset + w.extent))
          return true;
      }
      return false;
    };
    const auto holds_all = [&](const Region& region) { return IsDense(region) && Contains(region, read); };
    if (absl::c_any_of(written, beside) && !absl::c_any_of(written, holds_all)) return true;
  }
  return false;
}

bool MayRepeat(const Program& p, Id block, Id buffer, Id loop) {
  // Lets iterations repeat a store if its block is the only writer below the loop. If two iterations ran the same
  // reduction, one of them could restart it after the other had begun. If two blocks store to the buffer, repeating the
  // first block's store would overwrite the second block's.
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  const bool alone = std::none_of(blocks.begin(), blocks.end(),
                                  [&](Id other) { return other != block && Writes(p, other, buffer); });
  return (p.block(block).monoid == kNone && alone) || TellsApart(p, block, loop);
}

LoopUse UseOf(const Program& program, Id block, Id loop) {
  LoopUse use;
  const Id top = TopBelow(program, block, loop);
  if (top == kNone) return use;
  for (const Iter& iter : program.Iters(program.block(top).iters)) {
    bool& used = iter.kind == IterKind::kSpatial ? use.spatial : use.reduction;
    used = used || DependsOn(program, iter.binding, loop);
  }
  return use;
}

LoopUse AxisUse(const Program& program, Id block, Id axis) {
  LoopUse use = UseOf(program, block, axis);
  if (!use.spatial || !use.reduction) return use;
  use = {};
  const Id top = TopBelow(program, block, axis);
  const Bindings bindings = ResolveBindings(program, top);
  const auto iters = program.Iters(program.block(top).iters);
  for (size_t i = 0; i < iters.size(); ++i) {
    bool& used = iters[i].kind == IterKind::kSpatial ? use.spatial : use.reduction;
    for (const IndexSplit& split : bindings.iters[i].splits)
      used = used || split.source.kind != Source::Kind::kLoop || split.source.id == axis;
  }
  return use;
}

absl::Status CheckDataParallel(const Program& program, Id loop) {
  return CheckIndependent(program, loop, false, false);
}

absl::Status CheckShared(const Program& program, Id loop) {
  const LoopKind kind = program.loop(loop).kind;
  return CheckIndependent(program, loop, kind == LoopKind::kVectorized || IsThreadAxis(kind), true);
}

absl::Status CheckVectorizable(const Program& program, Id loop) {
  for (const Id below : LoopsBelow(program, loop)) {
    const LoopKind kind = program.loop(below).kind;
    if (kind == LoopKind::kParallel || kind == LoopKind::kVectorized) {
      return absl::FailedPreconditionError(
          absl::StrCat("loop ", program.Text(program.loop(below).name), " below is ", ToString(kind)));
    }
  }
  return CheckIndependent(program, loop, true, false);
}

std::vector<Id> LoopsBelow(const Program& program, Id node) {
  std::vector<Id> loops;
  CollectLoops(program, node, loops);
  return loops;
}

}  // namespace kiln
