// split
//
//   for i in 0..E            for i0 in 0..f0
//     S(i)            ->       for i1 in 0..f1
//                                S(f1 * i0 + i1)      where f1 * i0 + i1 < E
//
// One factor may be -1: it is then large enough to cover the rest. The factors must cover the extent. If their
// product exceeds it, the last tiles are imperfect.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

bool DependsOn(const Program& p, Id block, Id loop) {
  const LoopUse use = UseOf(p, block, loop);
  return use.spatial || use.reduction;
}

// Finds a block below the loop whose writes conflict with extra runs of `block`: it writes what the block
// reads, and depends on the loop or comes after the block; or it writes what the block writes, and depends
// on the loop. Returns kNone if there is none.
Id Disturber(const Program& p, Id block, Id loop) {
  for (const Id other : BlocksBelow(p, loop)) {
    const bool depends = DependsOn(p, other, loop);
    for (const Id buffer : WrittenBuffers(p, other)) {
      if ((Reads(p, block, buffer) && (depends || !Before(p, other, block))) ||
          (depends && other != block && Writes(p, block, buffer)))
        return other;
    }
  }
  return kNone;
}

using Factors = absl::InlinedVector<int64_t, 6>;

// Replaces a factor -1 by one that covers the rest of the extent. Returns the product of all factors. kInvalidArgument
// if another factor is below 1, or the product is too large.
absl::StatusOr<int64_t> CoverExtent(Factors& factors, int64_t extent) {
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
    } else if (factors[i] < 1 || factors[i] > (int64_t{1} << 40) / known) {
      return absl::InvalidArgumentError(
          absl::StrCat("factors ", absl::StrJoin(factors, " "), ": each is positive, and at most one is -1"));
    } else {
      known *= factors[i];
    }
  }
  if (open >= 0) {
    factors[open] = (extent + known - 1) / known;
    known *= factors[open];
  }
  return known;
}

// Checks that a split whose factors exceed the extent is safe. A block that does not depend on the loop has no guard,
// so the extra iterations run it more often than before. Refuses this within a reduction, and if another block writes
// what the block accesses.
absl::Status CheckRepeats(const Program& p, Id loop, const Factors& factors, int64_t known) {
  for (const Id block : BlocksBelow(p, loop)) {
    if (DependsOn(p, block, loop) || KILN_DEFECT("split.repeats")) continue;
    const Id disturber = Disturber(p, block, loop);
    const std::vector<Id> around = LoopsAround(p, block);
    const size_t position = std::find(around.begin(), around.end(), loop) - around.begin();
    const bool whole = p.block(block).monoid == kNone ||
                       (!p.block(block).accumulates && position < ReductionStart(p, block));
    if (whole && disturber == kNone) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("factors ", absl::StrJoin(factors, " "), " give ", known, ", more than the extent ",
                     p.loop(loop).extent.Known(), " of loop ", p.Text(p.loop(loop).name), ", on which ",
                     Describe(p, block), " does not depend",
                     whole ? absl::StrCat("; ", Describe(p, disturber), " writes what it uses") : ""));
  }
  return absl::OkStatus();
}

absl::Status Split(Call& call) {
  Program& p = call.program();
  const Id loop = call.node(0);
  const LoopNode old = p.loop(loop);
  Factors factors = call.numbers(1);
  const int64_t extent = old.extent.Known();
  if (factors.empty()) return absl::InvalidArgumentError("no factors are given");
  if (!old.extent.constant()) return absl::FailedPreconditionError("the extent of the loop is not constant");
  if (old.kind != LoopKind::kSerial) {
    return absl::FailedPreconditionError(absl::StrCat("loop ", p.Text(old.name), " is ", ToString(old.kind),
                                                      "; only a serial loop can be split"));
  }
  const absl::StatusOr<int64_t> covered = CoverExtent(factors, extent);
  if (!covered.ok()) return covered.status();
  const int64_t known = *covered;
  if (known < extent && !KILN_DEFECT("split.too-few")) {
    return absl::FailedPreconditionError(absl::StrCat("factors ", absl::StrJoin(factors, " "), " give ",
                                                      known, ", but loop ", p.Text(old.name), " has extent ",
                                                      extent));
  }

  if (known > extent) {
    if (absl::Status status = CheckRepeats(p, loop, factors, known); !status.ok()) return status;
  }

  IndexSum value;
  Id parent = kNone;
  int64_t scale = known;
  for (size_t i = 0; i < factors.size(); ++i) {
    scale /= factors[i];
    const Id part = p.AddLoop(absl::StrCat(p.Text(old.name), "_", i), factors[i]);
    p.loop(part).tainted = old.tainted || call.sampled(1);
    value = value + IndexSum::Of(Source::Loop(part), scale + (KILN_DEFECT("split.stride") && i == 0));
    if (parent == kNone) {
      p.Replace(loop, part);
    } else {
      p.Append(parent, part);
    }
    parent = part;
    call.Return(part);
  }
  while (p.nodes[loop].first != kNone) {
    const Id child = p.nodes[loop].first;
    p.Detach(child);
    p.Append(parent, child);
    if (KILN_DEFECT("split.children")) break;
  }
  p.loops[p.nodes[loop].index].definition = p.AddMark(value, old.extent);
  p.Kill(loop);
  return absl::OkStatus();
}

const Primitive kSplit{
    .name = "split",
    .operands = {{"loop", OperandKind::kLoop}, {"factors", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "outer ... inner",
    .doc =
        "Splits a serial loop into a nest, outermost factor first. -1 stands for the factor that covers "
        "the rest.\n"
        "for i in 0..E: S(i)\n->\n"
        "for i0 in 0..f0: for i1 in 0..f1: S(f1*i0 + i1) where f1*i0 + i1 < E\n"
        "Does not apply if the factors do not cover the extent, or if they exceed it and a reduction "
        "below does not depend on the loop.",
    .apply = Split,
};
KILN_PRIMITIVE(kSplit);

}  // namespace
}  // namespace kiln
