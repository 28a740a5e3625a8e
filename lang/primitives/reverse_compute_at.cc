// reverse-compute-at
//
//   for o in 0..I/4: for t in 0..4: B[4*o + t] = f        for o in 0..I/4:
//   for i in 0..I: C[i] = g(B[i])                   ->      for t in 0..4: B[4*o + t] = f
//                                                           for c in 0..4: C[4*o + c] = g(B[4*o + c])
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
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

// Iterations that run at once would each reduce into the same elements.
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

absl::Status ReverseComputeAt(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  absl::Status status = CheckReverseComputeAt(p, block, loop);
  if (!status.ok()) return status;
  const std::string place = call.Text(0).empty() ? "first" : call.Text(0);
  const absl::StatusOr<Id> before = PlaceBelow(p, loop, Producers(p, block), {}, place);
  if (!before.ok()) return before.status();
  std::vector<DimRange> ranges = WholeRanges(p, block);
  for (const Id load : Loads(p, block)) {
    const auto [buffer, marks] = p.exprs[load].AsLoad();
    for (const Id producer : Writers(p, buffer)) {
      if (!IsAncestor(p, loop, producer)) continue;
      const Region region = WrittenRegion(p, ResolveBindings(p, producer), buffer, loop);
      const auto index = p.List(marks);
      for (size_t d = 0; d < index.size(); ++d) {
        const std::optional<SimpleIndex> simple = AsSimpleIndex(p, index[d]);
        // A base that moves also says which iterations of the loop have nothing to consume.
        if (simple.has_value() &&
            (!region[d].base.IsConstant() || region[d].extent < ranges[simple->iter].extent)) {
          ranges[simple->iter] = region[d];
        }
      }
    }
  }
  status = CheckRepeats(p, block, loop, ranges);
  if (!status.ok()) return status;
  RemoveWithEmptyLoops(p, block);
  const Id nest = NestOver(p, block, ranges, true);
  if (*before == kNone) {
    p.Append(loop, nest);
  } else {
    p.InsertBefore(*before, nest);
  }
  return absl::OkStatus();
}

const Primitive kReverseComputeAt{
    .name = "reverse-compute-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"place", std::string()}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Moves a block below a loop of its producers, where it consumes what one iteration makes.\n"
        "for o: for t in 0..4: B[4*o+t] = f\nfor i: C[i] = g(B[i])\n->\n"
        "for o:\n  for t in 0..4: B[4*o+t] = f\n  for c in 0..4: C[4*o+c] = g(B[4*o+c])\n"
        "`place` among the loop's children is \"first\" (right after the last block there that it reads "
        "from; so it is by default), \"last\" (at the loop's end), or the number of the child that it comes "
        "before.\n"
        "Does not apply when the loop, or one around it, feeds a reduction of a producer; when the block "
        "reads at an index that is no iter of its own; when it reduces over a part only; or when the "
        "producer's tiles are imperfect at several levels.",
    .apply = ReverseComputeAt,
};
KILN_PRIMITIVE(kReverseComputeAt);

}  // namespace
}  // namespace kiln
