#include "lang/analysis/placement.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/region.h"
#include "lang/analysis/reshape.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

std::string Gathered(const Program& p, Id block, Id buffer) {
  return absl::StrCat(Describe(p, block), " reads ", p.Text(p.buffers[buffer].name), " at computed indices");
}

absl::Status CheckLeaf(const Program& p, Id block) {
  if (p.nodes[block].first != kNone) return No(absl::StrCat(Describe(p, block), " has blocks within"));
  return absl::OkStatus();
}

// OK if every block that writes what the block reads comes before it.
absl::Status CheckOrder(const Program& p, Id block) {
  for (const Id writer : Producers(p, block)) {
    if (!Before(p, writer, block) && !KILN_DEFECT("compute-inline.late-writer"))
      return No(absl::StrCat(Describe(p, writer), ", which writes what it reads, comes after ",
                             Describe(p, block)));
  }
  return absl::OkStatus();
}

// OK if a block may move to the node `to` although other blocks write its destination too. The move must not pass these
// writers or the buffer's readers. It must not leave a loop that is also around such a writer, unless different
// iterations of the loop run different instances of the block.
absl::Status CheckOthers(const Program& p, Id block, Id to) {
  for (const Id buffer : WrittenBuffers(p, block)) {
    const std::vector<Id> writers = Writers(p, buffer);
    if (writers.size() == 1) continue;
    std::vector<Id> others = Readers(p, buffer);
    others.insert(others.end(), writers.begin(), writers.end());
    for (const Id other : others) {
      if (other == block || Before(p, block, other) || KILN_DEFECT("reverse-compute-at.order")) continue;
      if (Before(p, other, to) && !IsAncestor(p, to, other)) continue;
      return No(absl::StrCat(Describe(p, other), ", between ", Describe(p, to), " and it, uses ",
                             p.Text(p.buffers[buffer].name), " too"));
    }
    for (const Id writer : writers) {
      for (Id at = p.nodes[block].parent; p.IsLoop(at); at = p.nodes[at].parent) {
        if (writer == block || IsAncestor(p, at, to) || !IsAncestor(p, at, writer) ||
            TellsApart(p, block, at))
          continue;
        return No(absl::StrCat("iterations of ", Describe(p, at), " repeat it before ", Describe(p, writer),
                               ", which writes ", p.Text(p.buffers[buffer].name), " too"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlace(const Program& p, Id block, Id loop) {
  if (EnclosingBlock(p, block) != EnclosingBlock(p, loop)) {
    return No(absl::StrCat(Describe(p, block), " and ", Describe(p, loop), " are in different scopes"));
  }
  if (const absl::Status status = CheckNotWithin(p, loop); !status.ok()) return status;
  if (IsAncestor(p, loop, block))
    return No(absl::StrCat(Describe(p, loop), " is around ", Describe(p, block), " already"));
  for (Id at = loop; at != kNone && p.IsLoop(at); at = p.nodes[at].parent) {
    if (p.loop(at).kind == LoopKind::kVectorized) {
      return No(absl::StrCat(Describe(p, at), " is vectorized; nothing can be moved below it"));
    }
  }
  return CheckMayLeave(p, block, Producers(p, block), loop);
}

// Checks the conditions of a move that do not depend on its destination: the block contains no others, and comes after
// all blocks that write what it reads.
absl::Status CheckMoves(const Program& p, Id block) {
  const absl::Status status = CheckOrder(p, block);
  return status.ok() ? CheckLeaf(p, block) : status;
}

absl::Status CheckOnlyWriter(const Program& p, Id block) {
  for (const Id buffer : WrittenBuffers(p, block)) {
    if (p.buffers[buffer].role != Role::kTemporary && !KILN_DEFECT("placement.result")) {
      return No(absl::StrCat(Describe(p, block), " writes ", p.Text(p.buffers[buffer].name),
                             ", a result of the program"));
    }
    if (Writers(p, buffer).size() > 1) {
      return No(absl::StrCat(p.Text(p.buffers[buffer].name), " has more writers than ", Describe(p, block)));
    }
  }
  return absl::OkStatus();
}

// True if each of the producer's `iters` alone (or plus a constant) indexes a dimension of `buffer` that it writes, and
// the consumer reads that dimension at an index that is not constant.
bool ShowIn(const Program& program, Id producer, Id buffer, const std::vector<int>& iters,
            absl::Span<const int32_t> index) {
  const auto shows = [&](int iter) {
    for (const Access& dest : program.Accesses(program.block(producer).dests)) {
      const auto written = program.List(dest.index);
      for (size_t d = 0; dest.buffer == buffer && d < written.size(); ++d) {
        const std::optional<SimpleIndex> simple = AsSimpleIndex(program, written[d]);
        if (simple.has_value() && simple->iter == iter && program.marks[index[d]].splits.count != 0)
          return true;
      }
    }
    return false;
  };
  return std::all_of(iters.begin(), iters.end(), shows);
}

// Tests whether the primitive compute-at may move a block below a loop. The constructor analyses the block once; Check
// then tests candidate loops.
class ComputeAtConditions {
 public:
  ComputeAtConditions(const Program& program, Id block)
      : p_(program),
        block_(block),
        written_(WrittenBuffers(program, block)),
        producers_(Producers(program, block)),
        anywhere_(CheckMoves(program, block)) {
    if (anywhere_.ok()) anywhere_ = CheckOnlyWriter(program, block);
    for (const Id consumer : Consumers(program, block))
      consumers_.push_back(ResolveBindings(program, consumer));
  }

  absl::Status Check(Id loop) const {
    absl::Status status = CheckPlace(p_, block_, loop);
    if (status.ok()) status = anywhere_;
    if (!status.ok()) return status;
    if (consumers_.empty()) return No(absl::StrCat("nothing reads what ", Describe(p_, block_), " writes"));
    for (const Bindings& consumer : consumers_) {
      status = CheckConsumer(consumer, loop);
      if (!status.ok()) return status;
    }
    if (producers_.empty() || SamePart(loop)) return absl::OkStatus();
    return CheckGaps("its readers do not need all that it makes", loop);
  }

 private:
  // True if the block writes one buffer and can compute exactly the region of it that all consumers together read in
  // one iteration of the loop. If there are several consumers, that region must have no gaps.
  bool SamePart(Id loop) const {
    if (written_.size() > 1) return false;
    Region all;
    for (const Bindings& consumer : consumers_)
      all = Union(p_, written_[0], all, ReadRegion(p_, consumer, written_[0], loop));
    return (consumers_.size() == 1 || IsDense(all)) && MakingOf(p_, block_, all).exact;
  }

  // True if the loops around the block, where it is now, run every instance: the iters take all their values, and no
  // other guard excludes an instance.
  bool RunsWhole(Id block) const {
    const Bindings own = ResolveBindings(p_, block);
    const auto iters = p_.Iters(p_.block(block).iters);
    for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
      const std::optional<DimRange> range = IterRange(p_, own, i, kRoot);
      if (!range.has_value() || !range->dense || range->base.offset > 0 ||
          range->base.offset + range->extent < iters[i].extent.Known())
        return false;
    }
    return !HasInnerGuards(p_, own);
  }

  // True if the producer writes every element of its buffers at its present place.
  bool WritesWhole(Id producer) const {
    if (p_.block(producer).domain.count != 0 || !RunsWhole(producer)) return false;
    const auto iters = p_.Iters(p_.block(producer).iters);
    for (const Access& dest : p_.Accesses(p_.block(producer).dests)) {
      const auto shape = p_.Dims(p_.buffers[dest.buffer].shape);
      const auto index = p_.List(dest.index);
      absl::flat_hash_set<int> used;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d].Known() == 1) continue;
        const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, index[d]);
        if (!simple.has_value() || simple->offset != 0 || !used.insert(simple->iter).second ||
            iters[simple->iter].extent.Known() < shape[d].Known())
          return false;
      }
    }
    return true;
  }

  // OK if all producers have written what the block reads, even for elements that no consumer reads but that the block
  // will compute after its move. `what` begins the message of the error.
  absl::Status CheckGaps(const std::string& what, Id loop) const {
    for (const Id producer : producers_) {
      const bool done =
          LowestCommonAncestor(p_, {producer, loop}) == kRoot && (RunsWhole(block_) || WritesWhole(producer));
      if (done || KILN_DEFECT("compute-at.gaps")) continue;
      return No(absl::StrCat(what, ", where ", Describe(p_, producer), " may not run"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckConsumer(const Bindings& bindings, Id loop) const {
    const Id consumer = bindings.block;
    if (!IsAncestor(p_, loop, consumer) && !KILN_DEFECT("compute-at.reader-outside")) {
      return No(absl::StrCat(Describe(p_, consumer), " reads it outside of ", Describe(p_, loop)));
    }
    // Refuses a loop that feeds a reduction of the consumer, or that is inside such a loop, if the reduction starts
    // from values that the block writes: the reduction reads these before the first such loop begins.
    for (const Id buffer : written_) {
      if (!ReadsInitially(p_, consumer, buffer) || KILN_DEFECT("compute-at.initial")) continue;
      for (Id at = loop; p_.IsLoop(at); at = p_.nodes[at].parent) {
        if (!UseOf(p_, consumer, at).reduction) continue;
        return No(absl::StrCat(Describe(p_, consumer), " starts from it, before ", Describe(p_, at)));
      }
    }
    if (producers_.empty()) return absl::OkStatus();  // the block reads nothing, so gaps are harmless
    bool exact = !HasInnerGuards(p_, bindings) && EmptyingIters(p_, bindings, loop).empty();
    for (const Id buffer : written_)
      exact = exact && IsDense(ReadRegion(p_, bindings, buffer, loop)) &&
              !ReadsLessThanRegion(p_, bindings, buffer);
    if (exact) return absl::OkStatus();
    return CheckGaps(absl::StrCat(Describe(p_, consumer), " reads with gaps"), loop);
  }

  const Program& p_;
  Id block_;
  std::vector<Id> written_, producers_;
  absl::Status anywhere_;
  std::vector<Bindings> consumers_;
};

}  // namespace

std::string Describe(const Program& program, Id node) {
  if (program.IsBlock(node)) return absl::StrCat("block \"", program.Text(program.block(node).name), "\"");
  if (program.IsLoop(node)) return absl::StrCat("loop ", program.Text(program.loop(node).name));
  return "the root";
}

absl::Status CheckNotWithin(const Program& program, Id node) {
  for (Id at = node; at != kRoot && at != kNone; at = program.nodes[at].parent) {
    if (!program.IsBlock(at) || (at == node && program.nodes[at].first == kNone)) continue;
    return No(absl::StrCat(at == node ? "" : absl::StrCat(Describe(program, node), " is within "),
                           Describe(program, at), at == node ? " is around others" : "",
                           "; nothing is placed in such a block"));
  }
  return absl::OkStatus();
}

Id InnerBlock(const Program& program, Id block) {
  Id inner = program.nodes[block].first == kNone ? block : kNone;
  for (const Id below : BlocksBelow(program, block)) {
    if (program.nodes[below].first != kNone) continue;
    if (inner != kNone) return kNone;
    inner = below;
  }
  return inner;
}

absl::Status CheckComputeAt(const Program& program, Id block, Id loop) {
  return ComputeAtConditions(program, block).Check(loop);
}

namespace {

// Checks that some producer of the block is below the loop, that each of these is complete at the end of each iteration
// of the loop and has no imperfect inner tiles, and that all other producers come before the loop.
absl::Status CheckProducersBelow(const Program& program, Id block, Id loop) {
  bool any = false;
  for (const Id producer : Producers(program, block)) {
    if (!IsAncestor(program, loop, producer)) {
      if (!Before(program, producer, loop)) {
        return No(absl::StrCat(Describe(program, producer), ", which it reads, comes after ",
                               Describe(program, loop)));
      }
      continue;
    }
    any = true;
    for (Id at = loop; at != kNone && program.IsLoop(at); at = program.nodes[at].parent) {
      if (UseOf(program, producer, at).reduction && !KILN_DEFECT("reverse-compute-at.unfinished")) {
        return No(absl::StrCat(Describe(program, at), " feeds a reduction of ", Describe(program, producer),
                               ", which is complete only after it"));
      }
    }
    if (HasInnerGuards(program, ResolveBindings(program, producer))) {
      return No(absl::StrCat("the tiles of ", Describe(program, producer),
                             " are imperfect at more than their last level"));
    }
  }
  if (!any) return No(absl::StrCat("it reads nothing that is written below ", Describe(program, loop)));
  return absl::OkStatus();
}

// Collects, for each iter of a block, the range of the iter for which one iteration of a loop writes what the block
// reads.
class PartsRead {
 public:
  PartsRead(const Program& program, Id block, Id loop)
      : program_(program), loop_(loop), iters_(program.Iters(program.block(block).iters)) {
    parts_.resize(iters_.size());
  }

  // Adds a read of `buffer` at `index` in dimension d. One iteration of the loop writes the range `part` of this
  // dimension, and the whole loop writes `all`. kFailedPrecondition unless the index is a constant in `part`, or one
  // iter whose values all lie in `all` and that has the same part in all reads. If the iter is reduced over, `part`
  // must contain all its values. At most 15 iters may be read.
  absl::Status Add(Id producer, Id buffer, size_t d, Id index, const DimRange& part, const DimRange& all) {
    const absl::string_view name = program_.Text(program_.buffers[buffer].name);
    if (const IndexMark& mark = program_.marks[index]; mark.splits.count == 0) {
      if (part.base.IsConstant() && part.base.offset <= mark.offset &&
          mark.offset < part.base.offset + part.extent)
        return absl::OkStatus();
      return No(absl::StrCat("it reads ", name, " at ", mark.offset, " in dimension ", d, ", which ",
                             Describe(program_, producer), " does not write in each iteration of ",
                             Describe(program_, loop_)));
    }
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program_, index);
    if (!simple.has_value()) return No(absl::StrCat("it reads ", name, " at an index that is not an iter"));
    if (simple->offset != 0 && !KILN_DEFECT("reverse-compute-at.offset"))
      return No(absl::StrCat("it reads ", name, " at an offset"));
    const Iter& iter = iters_[simple->iter];
    const int64_t size = program_.Dims(program_.buffers[buffer].shape)[d].Known();
    if (!KILN_DEFECT("reverse-compute-at.padding") &&
        (all.base.offset > 0 || iter.extent.Known() > std::min(size, all.base.offset + all.extent))) {
      return No(absl::StrCat("its iter ", program_.Text(iter.name), " also runs where ",
                             Describe(program_, producer), " writes nothing"));
    }
    const bool whole = part.base.IsConstant() && part.base.offset <= 0 &&
                       part.base.offset + part.extent >= iter.extent.Known();
    if (iter.kind == IterKind::kReduction && !whole) {
      return No(absl::StrCat("it reduces over ", program_.Text(iter.name), ", of which one iteration of ",
                             Describe(program_, loop_), " has only a part"));
    }
    std::optional<DimRange>& first = parts_[simple->iter];
    if (first.has_value() && !(first->base == part.base && first->extent == part.extent))
      return No(absl::StrCat("its producers have different parts of ", program_.Text(iter.name), " there"));
    if (!first.has_value() && ++read_ == kMaxRead) return No("it reads too many buffers");
    first = part;
    return absl::OkStatus();
  }

 private:
  static constexpr int kMaxRead = 16;

  const Program& program_;
  const Id loop_;
  const absl::Span<const Iter> iters_;
  int read_ = 0;                                // iters that some read uses
  std::vector<std::optional<DimRange>> parts_;  // by iter
};

}  // namespace

absl::Status CheckReverseComputeAt(const Program& program, Id block, Id loop) {
  absl::Status status = CheckPlace(program, block, loop);
  if (status.ok()) status = CheckMoves(program, block);
  if (!status.ok()) return status;
  if (program.block(block).accumulates)
    return No(absl::StrCat(Describe(program, block), " is initialized elsewhere"));
  status = CheckProducersBelow(program, block, loop);
  if (!status.ok()) return status;
  PartsRead parts(program, block, loop);
  for (const Id load : Loads(program, block)) {
    const auto [buffer, marks] = program.exprs[load].AsLoad();
    for (const Id producer : Writers(program, buffer)) {
      if (producer == block || !IsAncestor(program, loop, producer)) continue;
      const Bindings bindings = ResolveBindings(program, producer);
      const Region region = WrittenRegion(program, bindings, buffer, loop),
                   all = WrittenRegion(program, bindings, buffer, kRoot);
      const auto index = program.List(marks);
      const std::vector<int> emptying = EmptyingIters(program, bindings, loop);
      if (!IsDense(region)) {
        return No(absl::StrCat(Describe(program, producer), " writes with gaps in one iteration of ",
                               Describe(program, loop)));
      }
      if (!ShowIn(program, producer, buffer, emptying, index)) {
        return No(absl::StrCat("some tiles of ", Describe(program, producer),
                               " are empty, which its elements do not show"));
      }
      for (size_t d = 0; d < index.size(); ++d) {
        status = parts.Add(producer, buffer, d, index[d], region[d], all[d]);
        if (!status.ok()) return status;
      }
    }
  }
  return CheckOthers(program, block, loop);
}

absl::Status CheckComputeInline(const Program& program, Id block) {
  absl::Status status = CheckLeaf(program, block);
  if (status.ok()) status = CheckOnlyWriter(program, block);
  if (!status.ok()) return status;
  const BlockNode& b = program.block(block);
  if (b.monoid != kNone && !KILN_DEFECT("compute-inline.reduction"))
    return No(absl::StrCat(Describe(program, block), " is a reduction"));
  if (b.dests.count != 1 || b.domain.count != 0)
    return No(absl::StrCat(Describe(program, block), " does not write one whole buffer"));
  const Access& dest = program.Accesses(b.dests)[0];
  std::vector<bool> used(b.iters.count, false);
  for (const Id mark : program.List(dest.index)) {
    if (program.marks[mark].splits.count == 0) continue;
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, mark);
    if (!simple.has_value() || simple->offset != 0 || used[simple->iter]) {
      return No(
          absl::StrCat("an index of the result of ", Describe(program, block), " is not a distinct iter"));
    }
    used[simple->iter] = true;
  }
  const auto iters = program.Iters(b.iters);
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!used[i] && iters[i].extent.Known() != 1) {
      return No(absl::StrCat("iter ", program.Text(iters[i].name), " does not index the result"));
    }
  }
  status = CheckOrder(program, block);
  if (!status.ok()) return status;
  const std::vector<Id> consumers = Consumers(program, block);
  if (consumers.empty()) return No(absl::StrCat("nothing reads what ", Describe(program, block), " writes"));
  for (const Id consumer : consumers) {
    if (EnclosingBlock(program, consumer) != EnclosingBlock(program, block))
      return No("a reader is in another scope");
    if (GathersFrom(program, consumer, dest.buffer)) return No(Gathered(program, consumer, dest.buffer));
    status = CheckMayLeave(program, block, Producers(program, block), consumer);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckReverseComputeInline(const Program& program, Id block) {
  absl::Status status = CheckLeaf(program, block);
  if (!status.ok()) return status;
  const BlockNode& b = program.block(block);
  if (b.monoid != kNone || b.dests.count != 1 || b.domain.count != 0) {
    return No(absl::StrCat(Describe(program, block), " is not a plain store"));
  }
  const std::vector<Id> producers = Producers(program, block);
  if (producers.size() != 1) return No(absl::StrCat("it reads from ", producers.size(), " blocks, not one"));
  const Id producer = producers[0];
  const BlockNode& from = program.block(producer);
  if (from.monoid != kNone)
    return No(absl::StrCat(Describe(program, producer), ", which it reads, is a reduction"));
  if (from.domain.count != 0 || from.dests.count != 1)
    return No(absl::StrCat(Describe(program, producer), " is not a plain store"));
  status = CheckOnlyWriter(program, producer);
  if (status.ok()) status = CheckOrder(program, block);
  if (status.ok()) status = CheckOthers(program, block, producer);
  if (!status.ok()) return status;
  const Id buffer = program.Accesses(from.dests)[0].buffer;
  if (Readers(program, buffer).size() != 1 && !KILN_DEFECT("reverse-compute-inline.reader"))
    return No(absl::StrCat(program.Text(program.buffers[buffer].name), " has other readers"));
  if (EnclosingBlock(program, producer) != EnclosingBlock(program, block))
    return No("its producer is in another scope");
  const Id result = program.Accesses(b.dests)[0].buffer;
  if (Writers(program, result).size() > 1 && !RunsAllInstances(program, block))
    return No(absl::StrCat("its loops run a part of it, and other blocks write ",
                           program.Text(program.buffers[result].name), " too"));
  if (GathersFrom(program, block, buffer)) return No(Gathered(program, block, buffer));
  Box box;
  if (!ItersByElement(program, block, buffer).has_value() &&
      !ItersByElementOfBox(program, block, buffer, box).has_value()) {
    return No(
        absl::StrCat("it does not read ", program.Text(program.buffers[buffer].name), " element by element"));
  }
  return absl::OkStatus();
}

std::vector<int64_t> ComputeLocations(const Program& program, Id block) {
  std::vector<int64_t> locations;
  if (CheckComputeInline(program, block).ok()) locations.push_back(-2);
  locations.push_back(-1);
  const std::vector<Id> consumers = Consumers(program, block);
  if (consumers.empty()) return locations;
  const std::vector<Id> loops = LoopsAround(program, consumers.front());
  const ComputeAtConditions conditions(program, block);
  bool reduction_seen = false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const LoopUse use = UseOf(program, consumers.front(), loops[i]);
    if (use.reduction) reduction_seen = true;
    if (reduction_seen && !use.reduction) break;
    if (program.loop(loops[i]).extent.Known() == 1) continue;
    if (conditions.Check(loops[i]).ok()) locations.push_back(static_cast<int64_t>(i));
  }
  return locations;
}

}  // namespace kiln
