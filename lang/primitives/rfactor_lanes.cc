// rfactor-lanes
//
//   for i: for k: B[i] sum= f(i, k)
//   ->
//   for i:
//     for k0: vectorized k1: B.rf[k1] sum= f(i, k0, k1)    in registers
//     vectorized k1: B[i] sum= B.rf[k1]                    one reduction tree, at the end of the row
//
// Splits the innermost loop of each reduction into vector lanes, of which each has a partial result, if loads move by 0
// to 4 elements along this loop. Leaves a reduction as it is if they do not, or if one of the steps does not apply.
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/patterns/match.h"
#include "lang/schedule/lanes.h"
#include "lang/schedule/nested.h"

namespace kiln {
namespace {

// Returns the innermost loop of a reduction if it can be split into lanes: it is serial, around this block alone, feeds
// only the reduction, may be vectorized, and loads move by 0 to 4 elements along it (Lanes). Returns kNone for other
// blocks, and in calls of intrinsics.
Id RowOf(const Program& p, Id block) {
  const Id loop = p.nodes[block].parent;
  if (p.nodes[block].first != kNone || p.block(block).monoid == kNone || !p.IsLoop(loop)) return kNone;
  if (p.loop(loop).kind != LoopKind::kSerial || p.nodes[loop].first != p.nodes[loop].last) return kNone;
  const LoopUse use = UseOf(p, block, loop);
  const bool row = use.reduction && !use.spatial && CallAround(p, block) == kNone;
  return row && CheckVectorizable(p, loop).ok() && Lanes(p, block, loop) ? loop : kNone;
}

absl::Status TakeLanes(Call& call, Id block, Id loop, int64_t lanes) {
  Program& p = call.program();
  const Id row = p.nodes[LoopsAround(p, block)[ReductionStart(p, block)]].parent;
  std::vector<Id> parts, combine;
  absl::Status status = RunNested(call, "split", {loop}, {-1, lanes}, {}, &parts);
  if (status.ok())
    status = RunNestedOnBlock(call, "rfactor", block, {parts[1]}, {int64_t{-1}, std::string("register")},
                              &combine);
  if (status.ok() && p.IsLoop(row) && !IsAncestor(p, row, combine[0]))
    status = RunNestedOnBlock(call, "reverse-compute-at", combine[0], {row}, {}, nullptr);
  if (!status.ok()) return status;
  for (const Id lane : {parts[1], p.nodes[combine[0]].parent}) p.loop(lane).kind = LoopKind::kVectorized;
  return absl::OkStatus();
}

absl::Status RfactorLanes(Call& call) {
  Program& p = call.program();
  const int64_t limit = call.numbers(0)[0];
  if (limit < 2) return absl::OkStatus();
  for (const Id block : Blocks(p)) {
    const Id loop = RowOf(p, block);
    if (loop == kNone) continue;
    const int64_t extent = p.loop(loop).extent.Known();
    const int64_t vector = std::max<int64_t>(2, call.target().vector_bytes / WidestResult(p, {block}));
    const int64_t lanes = LaneCount(extent, std::min(limit, extent - 1), limit, vector);
    if (lanes >= extent) continue;
    const Program before = p;
    if (!TakeLanes(call, block, loop, lanes).ok()) p = before;
  }
  return absl::OkStatus();
}

const Primitive kRfactorLanes{
    .name = "rfactor-lanes",
    .operands = {{"lanes", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. Splits every reduction along its innermost loop into up to `lanes` partial results. They "
        "are lanes of vectors in registers and are combined at the end of the row. 0 changes nothing.\n"
        "for i: for k: B[i] sum= f(i, k)\n->\n"
        "for i:\n"
        "  for k0: vectorized k1: B.rf[k1] sum= f(i, k0, k1)\n"
        "  vectorized k1: B[i] sum= B.rf[k1]\n"
        "A reduction stays unchanged if its accesses take large steps along the loop, or if rfactor "
        "would not apply.",
    .apply = RfactorLanes,
};
KILN_PRIMITIVE(kRfactorLanes);

}  // namespace
}  // namespace kiln
