#include "modules/unscheduled.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/patterns/contraction.h"

namespace kiln {
namespace {

absl::Status No(const Program& p, Id node, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(Describe(p, node), " ", why));
}

bool AreDistinctIters(const Indices& indices) {
  std::set<int32_t> iters;
  return absl::c_all_of(indices, [&](const IndexSum& index) {
    return index.splits.size() == 1 && index == IndexSum::Of(index.splits.front().source) &&
           iters.insert(index.splits.front().source.id).second;
  });
}

}  // namespace

absl::Status CheckUntransformed(const Schedule& s) {
  for (const Step& step : s.steps()) {
    const Primitive& primitive = *step.primitive;
    if (primitive.sampling || primitive.reads_only || primitive.lemma) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        primitive.name, " has transformed the program; write this module before the ones that schedule"));
  }
  return absl::OkStatus();
}

absl::Status CheckUnscheduled(const Program& p, Id block) {
  if (p.nodes[block].first != kNone) return No(p, block, "has blocks within");
  const std::vector<Id> loops = LoopsAround(p, block);
  const std::vector<bool> spatial = Feeds(p, block, IterKind::kSpatial),
                          reduces = Feeds(p, block, IterKind::kReduction);
  for (size_t i = 0; i < loops.size(); ++i) {
    const Id loop = loops[i];
    if (!p.IsLoop(loop)) continue;
    if (!spatial[i] && !reduces[i] && p.loop(loop).extent.Known() > 1)
      return No(p, loop, "runs the same instances again");
    if (p.loop(loop).tainted) return No(p, loop, "has an extent that was drawn: its block is scheduled");
    if (p.loop(loop).kind != LoopKind::kSerial) return No(p, loop, "is not serial");
    if (p.nodes[loop].first != p.nodes[loop].last) return No(p, loop, "is shared with other blocks");
  }
  return absl::OkStatus();
}

absl::Status CheckReuses(const Program& p, Id block) {
  if (p.block(block).monoid == kNone) return No(p, block, "is not a reduction");
  if (!HasReuse(p, block)) return No(p, block, "uses what it loads once: tiles reuse nothing");
  return absl::OkStatus();
}

absl::Status CheckReduces(const Program& p, Id block) {
  if (p.block(block).monoid == kNone) return No(p, block, "is not a reduction");
  if (p.block(block).accumulates) return No(p, block, "is initialized by another block");
  return CheckUnscheduled(p, block);
}

absl::Status CheckReadsAtIters(const Program& p, Id block) {
  if (absl::Status status = CheckUnscheduled(p, block); !status.ok()) return status;
  const absl::StatusOr<Contraction> contraction = AsContraction(p, block);
  if (!contraction.ok()) return contraction.status();
  const bool reads =
      LoadOfFactor(p, contraction->a) == contraction->a && LoadOfFactor(p, contraction->b) == contraction->b;
  if (reads && absl::c_all_of(ReadIndices(p, block), AreDistinctIters)) return absl::OkStatus();
  return No(p, block, "reads at more than its iters, as a convolution does");
}

bool IsContiguousReduction(const Program& p, Id block) {
  if (p.block(block).monoid == kNone || HasReuse(p, block) || p.nodes[block].first != kNone) return false;
  for (const Id buffer : ReadBuffers(p, block))
    if (p.buffers[buffer].scope.storage != Storage::kGlobal) return false;
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  return !reduces.empty() && reduces.back();
}

}  // namespace kiln
