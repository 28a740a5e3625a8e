// reverse-compute-at
//
//   for o in 0..I/4: for t in 0..4: B[4*o + t] = f        for o in 0..I/4:
//   for i in 0..I: C[i] = g(B[i])                   ->      for t in 0..4: B[4*o + t] = f
//                                                           for c in 0..4: C[4*o + c] = g(B[4*o + c])
//
// Moves a block below a loop of its producers. There it consumes what one iteration of the loop computes.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

bool UsedOutside(const Program& p, Id block, Id loop) {
  const std::vector<Id> readers = Consumers(p, block);
  return WritesOutput(p, block) ||
         std::any_of(readers.begin(), readers.end(), [&](Id r) { return !IsAncestor(p, loop, r); });
}

// Refuses (kFailedPrecondition) to move a reduction below `loop` if iterations of this loop or of one around it run at
// once and would reduce into the same elements.
absl::Status CheckRepeats(const Program& p, Id block, Id loop, std::vector<DimRange> ranges) {
  if (p.block(block).monoid == kNone) return absl::OkStatus();
  const auto iters = p.Iters(p.block(block).iters);
  for (size_t i = ranges.size(); i-- > 0;) {
    if (iters[i].kind == IterKind::kReduction) ranges.erase(ranges.begin() + static_cast<int64_t>(i));
  }
  std::vector<Id> loops;
  for (Id at = loop; p.IsLoop(at); at = p.nodes[at].parent) {
    loops.insert(loops.begin(), at);
    const LoopKind kind = p.loop(at).kind;
    if (kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || !UsedOutside(p, block, at) ||
        TellsApart(p, ranges, loops))
      continue;
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block),
                                                      " would reduce the same in several iterations of ",
                                                      Describe(p, at), ", which is ", ToString(kind)));
  }
  return absl::OkStatus();
}

// A block that writes a buffer which the moved block reads. One iteration of `loop` writes only a part of
// the buffer: the loop encloses the writer and the new place of the moved block.
struct PartialWriter {
  Id writer, buffer, loop;
  // What the block reads in one iteration of the loop before the move, if the loop is around the block already. The
  // writers have written all of that before the block runs.
  std::optional<Region> read;
};

// Returns the writers of buffers that the block reads, each with the loop, `loop` or one around it, of which one
// iteration writes only a part of the buffer. Leaves out writers below `loop`, unless the block gathers from the
// buffer, because PartsRead (lang/analysis/placement.cc) has checked its loads.
std::vector<PartialWriter> PartialWriters(const Program& p, Id block, Id loop) {
  std::vector<PartialWriter> writers;
  for (const Id buffer : ReadBuffers(p, block)) {
    for (const Id writer : Writers(p, buffer)) {
      const Id common = LowestCommonAncestor(p, {writer, loop});
      if (writer == block || !p.IsLoop(common)) continue;
      if (common == loop && !GathersFrom(p, block, buffer)) continue;
      writers.push_back({writer, buffer, common, std::nullopt});
      if (IsAncestor(p, common, block))
        writers.back().read = ReadRegion(p, ResolveBindings(p, block), buffer, common);
    }
  }
  return writers;
}

// True if it is certain that one iteration of the loop w.loop completes every element of `part`, the region of the
// buffer that the writer w.writer writes in it. Elements beyond the buffer's bounds do not count.
bool WritesItsPart(const Program& p, const PartialWriter& w, const Bindings& bindings, const Region& part) {
  const BlockNode& writer = p.block(w.writer);
  if (writer.domain.count != 0 || HasInnerGuards(p, bindings) || !IsDense(part)) return false;
  if (UseOf(p, w.writer, w.loop).reduction) return false;
  if (bindings.guards.empty()) return true;
  for (const Access& dest : p.Accesses(writer.dests)) {
    for (const Id mark : p.List(dest.index)) {
      if (p.marks[mark].splits.count != 0 && !AsSimpleIndex(p, mark).has_value()) return false;
    }
  }
  return true;
}

// Checks, in the program after the move, that the block reads only elements that `writers` have written before in the
// same iteration of their loops.
absl::Status CheckReads(const Program& p, Id block, const std::vector<PartialWriter>& writers) {
  const Bindings bindings = ResolveBindings(p, block);
  for (const PartialWriter& w : writers) {
    Region read = ReadRegion(p, bindings, w.buffer, w.loop);
    if (w.read.has_value() && Contains(*w.read, read)) continue;
    const Bindings writer = ResolveBindings(p, w.writer);
    const Region written = WrittenRegion(p, writer, w.buffer, w.loop);
    const auto shape = p.Dims(p.buffers[w.buffer].shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool whole = written[d].base.IsConstant() && written[d].base.offset <= 0 &&
                         written[d].base.offset + written[d].extent >= shape[d].Known();
      if (whole)
        read[d] = written[d];  // every element of the dimension is written, so any index is safe to read
    }
    if (WritesItsPart(p, w, writer, written) && Contains(written, read)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " reads more of ", p.Text(p.buffers[w.buffer].name), " than ",
                     Describe(p, w.writer), " has written in one iteration of ", Describe(p, w.loop)));
  }
  return absl::OkStatus();
}

// True if the bases of both ranges depend on one loop, or may, because a base contains a mark.
bool ShareALoop(const DimRange& a, const DimRange& b) {
  return absl::c_any_of(a.base.splits, [&](const IndexSplit& of_a) {
    return absl::c_any_of(b.base.splits, [&](const IndexSplit& of_b) {
      return of_a.source == of_b.source || of_a.source.kind == Source::Kind::kMark ||
             of_b.source.kind == Source::Kind::kMark;
    });
  });
}

// The values that the iters of a moved block take in one iteration of the loop below which it moves.
struct MovedRanges {
  std::vector<DimRange> ranges;  // by iter
  std::vector<std::vector<int>>
      limited;  // for each read of what a block below the loop writes, the iters that it limits

  explicit MovedRanges(std::vector<DimRange> whole) : ranges(std::move(whole)) {}

  void Limit(int iter, const DimRange& range) {
    ranges[iter] = range;
    limited.back().push_back(iter);
  }

  // True if it is proven that the iterations of the loop, and of those around it, give the iters all combinations of
  // values. False if different reads limit two iters by one loop, so that the iters would only be equal: i and j in
  // C[i, j] = A[i] * B[j], where an iteration makes A[o] and B[o]. One read alone loses no combination, as all its
  // elements are written.
  bool TakeAllValues() const {
    const int count = static_cast<int>(ranges.size());
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        const bool together = absl::c_any_of(limited, [&](const std::vector<int>& iters) {
          return absl::c_linear_search(iters, a) && absl::c_linear_search(iters, b);
        });
        if (!together && ShareALoop(ranges[a], ranges[b])) return false;
      }
    }
    return true;
  }
};

absl::Status ReverseComputeAt(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  absl::Status status = CheckReverseComputeAt(p, block, loop);
  if (!status.ok()) return status;
  const std::string place = call.Text(0).empty() ? "first" : call.Text(0);
  const absl::StatusOr<Id> before = PlaceBelow(p, loop, Producers(p, block), {}, place);
  if (!before.ok()) return before.status();
  MovedRanges moved_ranges(WholeRanges(p, block));
  const std::vector<DimRange>& ranges = moved_ranges.ranges;
  for (const Id load : Loads(p, block)) {
    const auto [buffer, marks] = p.exprs[load].AsLoad();
    for (const Id producer : Writers(p, buffer)) {
      if (!IsAncestor(p, loop, producer)) continue;
      const Region region = WrittenRegion(p, ResolveBindings(p, producer), buffer, loop);
      const auto index = p.List(marks);
      moved_ranges.limited.emplace_back();
      for (size_t d = 0; d < index.size(); ++d) {
        const std::optional<SimpleIndex> simple = AsSimpleIndex(p, index[d]);
        // Limits the iter to what one iteration of the loop writes, if that is less than all values. A range that moves
        // with loops counts as less whatever its extent, because some iterations then write nothing for the block.
        if (simple.has_value() &&
            (!region[d].base.IsConstant() || region[d].extent < ranges[simple->iter].extent)) {
          moved_ranges.Limit(simple->iter, region[d]);
        }
      }
    }
  }
  if (!moved_ranges.TakeAllValues()) {
    return absl::FailedPreconditionError(absl::StrCat(
        Describe(p, block), " reads several buffers of which each iteration of ", Describe(p, loop),
        " makes a part, at indices of their own: moved there, it would not combine all parts with all others"));
  }
  status = CheckRepeats(p, block, loop, ranges);
  if (!status.ok()) return status;
  const auto move = [&](Program& program) {
    RemoveWithEmptyLoops(program, block);
    const Id nest = NestOver(program, block, ranges, true);
    if (*before == kNone) {
      program.Append(loop, nest);
    } else {
      program.InsertBefore(*before, nest);
    }
  };
  const std::vector<PartialWriter> partial = PartialWriters(p, block, loop);
  if (partial.empty()) {
    move(p);
    return absl::OkStatus();
  }
  Program moved = p;
  move(moved);
  status = CheckReads(moved, block, partial);
  if (status.ok()) p = std::move(moved);
  return status;
}

const Primitive kReverseComputeAt{
    .name = "reverse-compute-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"place", std::string()}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Moves a block below a loop of its producers. There it consumes what one iteration of the loop "
        "computes.\n"
        "for o: for t in 0..4: B[4*o+t] = f\n"
        "for i: C[i] = g(B[i])\n->\n"
        "for o:\n"
        "  for t in 0..4: B[4*o+t] = f\n"
        "  for c in 0..4: C[4*o+c] = g(B[4*o+c])\n"
        "`place` is the position among the children of the loop: \"first\" (directly after the last "
        "block there that it reads from; the default), \"last\" (at the end of the loop), or the number "
        "of the child before which it is inserted.\n"
        "Does not apply if the loop or an enclosing one feeds a reduction of a producer, if the block "
        "reads at an index that is not one of its own iters, if it would reduce over only a part, if the "
        "producer's tiles are imperfect at several levels, or if the block reads more of a buffer than "
        "is written before its new place.",
    .apply = ReverseComputeAt,
};
KILN_PRIMITIVE(kReverseComputeAt);

}  // namespace
}  // namespace kiln
