// reverse-compute-at
//
//   for o in 0..I/4: for t in 0..4: B[4*o + t] = f        for o in 0..I/4:
//   for i in 0..I: C[i] = g(B[i])                   ->      for t in 0..4: B[4*o + t] = f
//                                                           for c in 0..4: C[4*o + c] = g(B[4*o + c])
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/primitive.h"
#include "lang/rewrite.h"

namespace kiln {
namespace {

absl::Status ReverseComputeAt(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  const absl::Status status = CheckReverseComputeAt(p, block, loop);
  if (!status.ok()) return status;
  std::vector<DimRange> ranges = WholeRanges(p, block);
  Id after = kNone;  // the last child of the loop that the block reads from
  for (const Id load : Loads(p, block)) {
    const Expr e = p.exprs[load];
    for (const Id producer : Writers(p, e.a)) {
      if (!IsAncestor(p, loop, producer)) continue;
      const Region region = WrittenRegion(p, ResolveBindings(p, producer), e.a, loop);
      const auto index = p.List({e.b, e.c});
      for (size_t d = 0; d < index.size(); ++d) {
        const std::optional<SimpleIndex> simple = AsSimpleIndex(p, index[d]);
        // A base that moves also says which iterations of the loop have nothing to consume.
        if (simple.has_value() &&
            (!region[d].base.IsConstant() || region[d].extent < ranges[simple->iter].extent)) {
          ranges[simple->iter] = region[d];
        }
      }
      const Id child = ChildTowards(p, loop, producer);
      if (after == kNone || Before(p, after, child)) after = child;
    }
  }
  RemoveWithEmptyLoops(p, block);
  p.InsertAfter(after, NestOver(p, block, ranges, true));
  return absl::OkStatus();
}

const Primitive kReverseComputeAt{
    .name = "reverse-compute-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Moves a block below a loop of its producers, where it consumes what one iteration makes.\n"
        "for o: for t in 0..4: B[4*o+t] = f\nfor i: C[i] = g(B[i])\n->\n"
        "for o:\n  for t in 0..4: B[4*o+t] = f\n  for c in 0..4: C[4*o+c] = g(B[4*o+c])\n"
        "Does not apply when the loop, or one around it, feeds a reduction of a producer; when the block "
        "reads at an index that is no"
        " iter of its own; when it reduces over a part only; or when the producer's tiles are imperfect at "
        "several levels.",
    .apply = ReverseComputeAt,
};
KILN_PRIMITIVE(kReverseComputeAt);

}  // namespace
}  // namespace kiln
