#include "lang/patterns/reassociation.h"

#include <algorithm>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/patterns/intrinsic.h"

namespace kiln {
namespace {

// True if the block is a reduction that may round differently in another order.
bool Rounds(const Program& p, Id block) {
  const Id monoid = p.block(block).monoid;
  return monoid != kNone && !p.monoids[monoid].exact;
}

int64_t Terms(const Program& p, Id block) {
  int64_t terms = 1;
  for (const Iter& iter : p.Iters(p.block(block).iters))
    if (iter.kind == IterKind::kReduction) terms *= iter.extent.UpperBound();
  return terms;
}

bool CombinesParts(const Program& p, Id block) {
  if (p.block(block).provenance.kind != Provenance::Kind::kPartial) return false;
  const std::vector<Id> readers = Consumers(p, block);
  return std::any_of(readers.begin(), readers.end(), [&](Id reader) {
    return p.block(reader).provenance.origin == p.block(block).provenance.origin && Rounds(p, reader) &&
           Terms(p, reader) > 1;
  });
}

bool IsOneAfterTheOther(LoopKind kind) {
  return kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || kind == LoopKind::kPipelined;
}

// True if proven: the loops run the terms one after the other, in the order of the block's iters. The position of a
// term must grow with each step.
bool IsInOrder(const Program& p, Id block) {
  const std::vector<Id> loops = LoopsAround(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  const Extents extents(p);
  const auto iters = p.Iters(p.block(block).iters);
  IndexSum count;
  int64_t scale = 1;
  for (size_t i = iters.size(); i-- > 0;) {
    if (iters[i].kind != IterKind::kReduction) continue;
    count = count + bindings.iters[i] * scale;
    scale *= iters[i].extent.Known();
  }
  count = Simplify(count, extents);
  const auto place = [&](const IndexSplit& split) {
    return std::find(loops.begin(), loops.end(), split.source.id) - loops.begin();
  };
  for (const IndexSplit& split : count.splits) {
    if (split.source.kind != Source::Kind::kLoop || !IsOneAfterTheOther(p.loop(split.source.id).kind))
      return false;
  }
  std::sort(count.splits.begin(), count.splits.end(), [&](const IndexSplit& a, const IndexSplit& b) {
    return place(a) != place(b) ? place(a) > place(b) : a.lower < b.lower;
  });
  int64_t within = 0;
  for (const IndexSplit& split : count.splits) {
    if (split.scale <= within) return false;
    within += split.scale * (SplitRange(split, extents) - 1);
  }
  return true;
}

bool IsAddedAtOnce(const Program& p, Id block) {
  for (Id call = block; call != kNone; call = EnclosingBlock(p, call)) {
    if (p.block(call).intrinsic == kNone) continue;
    const IntrinsicFamily* const family = FamilyThatComputesWith(p.Text(p.block(call).intrinsic));
    if (family != nullptr && family->k > 1) return true;
  }
  return false;
}

}  // namespace

bool Reassociates(const Program& scheduled) {
  const std::vector<Id> blocks = Blocks(scheduled);
  return std::any_of(blocks.begin(), blocks.end(), [&](Id block) {
    return Rounds(scheduled, block) && Terms(scheduled, block) > 1 &&
           (CombinesParts(scheduled, block) || IsAddedAtOnce(scheduled, block) ||
            !IsInOrder(scheduled, block));
  });
}

}  // namespace kiln
