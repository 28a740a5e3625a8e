#include "backends/lower/kernels/plan_kernels.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/lower/kernels/insert_syncs.h"
#include "backends/lower/kernels/pipelines.h"
#include "backends/lower/passes/build.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/passes/first_iteration.h"
#include "backends/lower/passes/guards.h"
#include "backends/lower/passes/plan_indices.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/lowerable.h"
#include "lang/schedule/inline_nested_blocks.h"
#include "lang/threads/synchronization.h"

namespace kiln::plan {
namespace {

absl::Status Refuse(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("plans for GPUs do not have ", what, " yet"));
}

absl::Status CheckSupported(const Program& p) {
  if (absl::Status status = CheckConstantExtents(p, "lowering"); !status.ok()) return status;
  for (const Id block : Blocks(p))
    if (p.block(block).intrinsic != kNone) return Refuse("calls of intrinsics");
  for (const Id id : LoopsBelow(p, kRoot)) {
    const LoopNode& loop = p.loop(id);
    if (RunsOnThreads(p, id)) return Refuse("parallel loops");
    if (loop.kind != LoopKind::kPipelined) continue;
    for (const PipelineStage& stage : p.Stages(loop))
      if (stage.role == PipelineRole::kProducer) return Refuse("producers");
    for (const Ring& ring : p.Rings(loop))
      if (ring.transport == Transport::kBulk) return Refuse("bulk copies");
  }
  return absl::OkStatus();
}

std::vector<Id> ChildrenOf(const Program& p, Id node) {
  std::vector<Id> children;
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) children.push_back(child);
  return children;
}

// Puts each loop that is a child of the root and not on a block axis into a new loop of one iteration. All that passes
// make of the loop, such as the first copies of a pipeline or the initialization of a sum, stays below this new loop,
// which becomes one kernel.
void KeepKernelsWhole(Program& p) {
  for (const Id child : ChildrenOf(p, kRoot)) {
    if (!p.IsLoop(child) || IsBlockAxis(p.loop(child).kind)) continue;
    const Id kernel = p.AddLoop("kernel", 1);
    p.Replace(child, kernel);
    p.Append(kernel, child);
  }
}

// Checks that each child of a pipelined loop has a stage. Refuses loops with further children, which come from an
// inlined block that had several loop nests.
absl::Status CheckStages(const Program& p) {
  for (const Id id : LoopsBelow(p, kRoot)) {
    const LoopNode& loop = p.loop(id);
    if (loop.kind == LoopKind::kPipelined && ChildrenOf(p, id).size() != p.Stages(loop).size())
      return Refuse("blocks of several nests in a pipelined loop");
  }
  return absl::OkStatus();
}

// Inserts an initialization block for each reduction that needs one (passes/decompose_reductions.h), because setting
// registers costs less than testing for the first iteration in the innermost loop. In a pipelined loop, the
// initialization gets the stage of its reduction, which follows.
void DecomposeWithStages(Program& p) {
  std::map<Id, std::vector<Id>> children;
  for (const Id loop : LoopsBelow(p, kRoot))
    if (p.loop(loop).kind == LoopKind::kPipelined) children[loop] = ChildrenOf(p, loop);
  DecomposeReductions(p, /*starts_inside=*/false);
  for (const auto& [loop, before] : children) {
    const std::vector<Id> now = ChildrenOf(p, loop);
    if (now.size() == before.size()) continue;
    const std::vector<PipelineStage> of_children(p.Stages(p.loop(loop)).begin(),
                                                 p.Stages(p.loop(loop)).end());
    const std::vector<Ring> rings(p.Rings(p.loop(loop)).begin(), p.Rings(p.loop(loop)).end());
    std::vector<PipelineStage> stages;
    for (size_t c = 0, known = 0; c < now.size(); ++c) {
      stages.push_back(of_children[known]);
      known += now[c] == before[known];
    }
    std::vector<size_t> in_order(now.size());
    absl::c_iota(in_order, 0);
    absl::c_sort(in_order, [&](size_t a, size_t b) {
      return std::pair(stages[a].order, a) < std::pair(stages[b].order, b);
    });
    for (size_t at = 0; at < in_order.size(); ++at) stages[in_order[at]].order = static_cast<int32_t>(at);
    p.SetPipeline(loop, stages, rings);
  }
}

// Returns options with which Guards makes few versions of the code, because each costs time in ptxas: around each block
// at most one choice between code for complete tiles and code for others, and no versions for the boundaries of padded
// images.
LowerOptions OptionsOfGuards() {
  LowerOptions options;
  options.policies.Switch(Policy::kBoundaryVersions);
  options.costs.nest_versions = 1;
  return options;
}

}  // namespace

absl::StatusOr<Planned> PlanKernels(const Program& program) {
  if (absl::Status status = CheckSupported(program); !status.ok()) return status;
  LoopNestSummary nests;
  nests.Read(program);
  if (absl::Status status = VerifyLowerable(nests); !status.ok()) return status;
  Planned made{program, {}};
  InlineNestedBlocks(made.program);
  if (absl::Status status = CheckStages(made.program); !status.ok()) return status;
  KeepKernelsWhole(made.program);
  DecomposeWithStages(made.program);
  const auto points = PlanSynchronization(made.program);
  if (!points.ok()) return points.status();
  PlanOptions options{.kernels = true};
  for (const SharedPlace& place : points->places) options.places[place.buffer] = place.place;
  IndexPlan indices = PlanIndices(made.program, options);
  made.plan = Build(made.program, std::move(indices), {});
  for (Entry& entry : made.plan.entries) {
    InsertSyncs(*points, entry.nodes);
    WriteOutPipelines(made.program, *points, entry.nodes);
    FirstIteration(entry.nodes);
    entry.nodes = Guards(made.program, made.plan.indices, entry.nodes, OptionsOfGuards());
    for (const Node& kernel : entry.nodes)
      if (absl::Status status = CheckSyncs(kernel); !status.ok()) return status;
  }
  return made;
}

}  // namespace kiln::plan
