#include "backends/lower/kernels/plan_kernels.h"

#include "absl/strings/str_cat.h"
#include "backends/lower/kernels/pipelines.h"
#include "backends/lower/kernels/synchronize.h"
#include "backends/lower/passes/build.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/passes/plan_indices.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/schedule/inline_nested_blocks.h"

namespace kiln::plan {
namespace {

absl::Status CheckSupported(const Program& p) {
  if (absl::Status status = CheckConstantExtents(p, "lowering"); !status.ok()) return status;
  const auto refuse = [](absl::string_view what) {
    return absl::FailedPreconditionError(absl::StrCat("plans for GPUs do not have ", what, " yet"));
  };
  for (const Id block : Blocks(p))
    if (p.block(block).intrinsic != kNone) return refuse("calls of intrinsics");
  for (const Id id : LoopsBelow(p, kRoot)) {
    const LoopNode& loop = p.loop(id);
    if (RunsOnThreads(p, id)) return refuse("parallel loops");
    if (loop.kind != LoopKind::kPipelined) continue;
    for (const PipelineStage& stage : p.Stages(loop))
      if (stage.role == PipelineRole::kProducer) return refuse("producers");
    for (const Ring& ring : p.Rings(loop))
      if (ring.transport != Transport::kSync)
        return refuse(absl::StrCat(ToString(ring.transport), " copies"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Planned> PlanKernels(const Program& program) {
  if (absl::Status status = CheckSupported(program); !status.ok()) return status;
  Planned made{program, {}};
  InlineNestedBlocks(made.program);
  DecomposeReductions(made.program);
  IndexPlan indices = PlanIndices(made.program);
  made.plan = Build(made.program, std::move(indices), {});
  for (Entry& entry : made.plan.entries) {
    if (absl::Status status = WriteOutPipelines(made.program, entry.nodes); !status.ok()) return status;
    Synchronize(made.program, made.plan.indices, entry.nodes);
  }
  return made;
}

}  // namespace kiln::plan
