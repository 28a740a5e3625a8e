#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

// Returns how many threads run the producers of pipelined loops, beside the threads of the axes: a warp, or a group of
// the kind `collective` if that is larger. Returns 0 if the kernel has no producers.
int64_t Producers(const LoopNestSummary& nests, Id nest, Owner collective) {
  const Program& p = nests.program();
  for (const NestLoop& loop : nests.loops()) {
    if (loop.kind != LoopKind::kPipelined || NestOf(p, loop.node) != nest) continue;
    for (const PipelineStage& stage : p.Stages(p.loop(loop.node)))
      if (stage.role == PipelineRole::kProducer) return LanesOf(std::max(Owner::kWarp, collective));
  }
  return 0;
}

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  const Program& p = nests.program();
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) {
    const Threads threads = ThreadsOf(p, nest);
    const int64_t all = threads.Count() + Producers(nests, nest, threads.collective);
    if (all <= target.gpu->threads_per_block) continue;
    return absl::StrCat("the kernel of ", Describe(p, nest), " has blocks of ", all, " threads; ",
                        target.gpu->name, " runs ", target.gpu->threads_per_block, " at most");
  }
  return std::nullopt;
}

}  // namespace

const Check kGpuThreadsCheck{"gpu-threads", Refuses, IsForGpus};

}  // namespace kiln
