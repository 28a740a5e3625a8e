// compute-at
//
//   for i in 0..I: B[i] = f(i)                    for o in 0..I/4:
//   for o in 0..I/4:                        ->      for b in 0..4: B[4*o + b] = f(4*o + b)
//     for t in 0..4: C[..] = B[4*o + t]             for t in 0..4: C[..] = B[4*o + t]
//
// Below the loop, the block computes what one iteration of the loop needs. A part that several iterations
// need is computed by each of them.
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Returns the range of each iter of the block that its consumers need in one iteration of `loop`. For a block with
// several results, returns the whole ranges.
std::vector<DimRange> NeededRanges(const Program& p, Id block, Id loop) {
  if (p.block(block).dests.count != 1) return WholeRanges(p, block);
  const Id buffer = p.Accesses(p.block(block).dests)[0].buffer;
  Region region;
  for (const Id consumer : Consumers(p, block))
    region = Union(p, buffer, region, ReadRegion(p, ResolveBindings(p, consumer), buffer, loop));
  return MakingOf(p, block, region).ranges;
}

absl::Status Move(Program& p, Id block, Id loop, const std::string& place) {
  const absl::Status status = CheckComputeAt(p, block, loop);
  if (!status.ok()) return status;
  const absl::StatusOr<Id> before =
      PlaceBelow(p, loop, Producers(p, block), Consumers(p, block), place.empty() ? "last" : place);
  if (!before.ok()) return before.status();
  const std::vector<DimRange> ranges = NeededRanges(p, block, loop);
  RemoveWithEmptyLoops(p, block);
  p.InsertBefore(*before, NestOver(p, block, ranges, true));
  return absl::OkStatus();
}

absl::Status ComputeAt(Call& call) { return Move(call.program(), call.node(0), call.node(1), call.Text(0)); }

absl::Status ComputeAtLocation(Call& call) {
  Program& p = call.program();
  const int64_t location = call.numbers(1)[0];
  const Id block = call.node(0);
  if (location == -1) return absl::OkStatus();
  if (location == -2) return FindPrimitive("compute-inline")->apply(call);
  const std::vector<Id> consumers = Consumers(p, block);
  const std::vector<Id> loops = consumers.empty() ? std::vector<Id>() : LoopsAround(p, consumers.front());
  if (location < 0 || location >= static_cast<int64_t>(loops.size())) {
    return absl::FailedPreconditionError(absl::StrCat("location ", location, " is not among the ",
                                                      loops.size(), " loops of the block's first consumer"));
  }
  return Move(p, block, loops[location], "");
}

const Primitive kComputeAt{
    .name = "compute-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"place", std::string()}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Moves a block below a loop of its consumers. There it computes what one iteration of the loop "
        "needs.\n"
        "for i: B[i] = f(i)\n"
        "for o: for t in 0..4: C[..] = B[4*o+t]\n->\n"
        "for o:\n"
        "  for b in 0..4: B[4*o+b] = f(4*o+b)\n"
        "  for t in 0..4: C[..] = B[4*o+t]\n"
        "`place` is the position among the children of the loop: \"first\" (directly after the last "
        "block there that it reads from), \"last\" (directly before its first consumer; the default), or "
        "the number of the child before which it is inserted.\n"
        "Does not apply if a consumer is outside the loop, if the block writes a result of the program, "
        "or if its buffer has another writer.",
    .apply = ComputeAt,
};
KILN_PRIMITIVE(kComputeAt);

const Primitive kComputeAtLocation{
    .name = "compute-at-location",
    .operands = {{"block", OperandKind::kBlock}, {"location", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Applies compute-at with the location-th loop around the first consumer. -2 means "
        "compute-inline, and -1 leaves the block in its place.",
    .apply = ComputeAtLocation,
};
KILN_PRIMITIVE(kComputeAtLocation);

// Returns how often each instance of a block would run, on average, if the block moved below a loop around
// its first consumer.
double Repeats(const Program& p, Id block, Id loop) {
  double after = 1, now = 1;
  for (Id at = loop; p.IsLoop(at); at = p.nodes[at].parent)
    after *= static_cast<double>(p.loop(at).extent.Known());
  for (const DimRange& range : NeededRanges(p, block, loop)) after *= static_cast<double>(range.extent);
  for (const Iter& iter : p.Iters(p.block(block).iters)) now *= static_cast<double>(iter.extent.Known());
  return after / now;
}

// Draws a location for the block, uniformly. Leaves out inlining where it does not apply, and loops at which each
// instance would run more than CostTable::most_repeats times on average: overlapping halos and padding may be computed
// again, but a block that runs again for each element is slow.
absl::Status SampleComputeLocation(Call& call) {
  const Program& p = call.program();
  const Id block = call.node(0);
  std::vector<int64_t> locations = ComputeLocations(p, block);
  const std::vector<Id> consumers = Consumers(p, block);
  const std::vector<Id> loops = consumers.empty() ? std::vector<Id>() : LoopsAround(p, consumers.front());
  std::erase_if(locations, [&](int64_t at) {
    if (at == -2) return !CheckInlineBlock(p, block).ok();
    return at >= 0 && Repeats(p, block, loops[at]) > call.target().costs.most_repeats;
  });
  return call.Draw(Distribution::Uniform(locations));
}

const Primitive kSampleComputeLocation{
    .name = "sample-compute-location",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {Only()},
    .result = HandleKind::kValue,
    .result_names = "location",
    .sampling = true,
    .reads_only = true,
    .doc =
        "Draws, uniformly, where to compute a block: -2 inline, -1 in its place, or the position of a "
        "loop around its first consumer. The loop must have more than one iteration, compute-at must "
        "apply there, and each instance must run at most 16 times.",
    .apply = SampleComputeLocation,
};
KILN_PRIMITIVE(kSampleComputeLocation);

}  // namespace
}  // namespace kiln
