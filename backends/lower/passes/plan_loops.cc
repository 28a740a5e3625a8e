#include "backends/lower/passes/plan_loops.h"

#include <unordered_map>

#include "backends/lower/passes/build.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/passes/first_iteration.h"
#include "backends/lower/passes/guards.h"
#include "backends/lower/passes/lane_groups.h"
#include "backends/lower/passes/plan_indices.h"
#include "backends/lower/passes/prefetch_nests.h"
#include "backends/lower/passes/prefetch_streams.h"
#include "backends/lower/passes/prefetch_tiles.h"
#include "backends/lower/passes/share_storage.h"
#include "backends/lower/passes/stream_stores.h"
#include "backends/lower/passes/transposed_stores.h"
#include "backends/lower/passes/unroll_short_loops.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/schedule/inline_nested_blocks.h"
#include "lang/text/text.h"

namespace kiln::plan {
namespace {

// Makes a pass, which changes nodes of a plan in place, from a function that returns new nodes.
template <auto kPass>
void Replace(const Program& p, const IndexPlan& indices, Nodes& nodes, const LowerOptions& options) {
  nodes = kPass(p, indices, nodes, options);
}

// Returns the names of the intrinsics that blocks call, each by the outermost loop inside its block. Returns none
// without the policy `guards`, as only the guards pass finds out whether an instruction fits.
std::unordered_map<Id, std::string> CallsOf(const Program& p, const Policies& policies) {
  std::unordered_map<Id, std::string> calls;
  if (!policies.Has(Policy::kGuards)) return calls;
  for (const Id block : Blocks(p)) {
    if (p.block(block).intrinsic != kNone)
      calls[p.nodes[block].first] = std::string(p.Text(p.block(block).intrinsic));
  }
  return calls;
}

// Makes pipelined loops serial, because a CPU runs the stages of an iteration one after the other, and because the
// initialization blocks of decomposed reductions belong to no stage.
void MakePipelinesSerial(Program& p) {
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (p.IsLoop(node) && p.loop(node).kind == LoopKind::kPipelined) p.loop(node).kind = LoopKind::kSerial;
  }
}

// Makes loops on the axes of a GPU serial, as a CPU runs them.
void MakeAxesSerial(Program& p) {
  for (const Id loop : LoopsBelow(p, kRoot))
    if (IsBlockAxis(p.loop(loop).kind) || IsThreadAxis(p.loop(loop).kind))
      p.loop(loop).kind = LoopKind::kSerial;
}

constexpr Pass kPasses[] = {
    {"lane-groups", Policy::kWholeVectors, false,
     [](const Program& p, const IndexPlan&, Nodes& nodes, const LowerOptions& options) {
       LaneGroups(p, nodes, options.vector_bytes);
     }},
    {"first-iteration", Policy::kFirstIteration, false,
     [](const Program&, const IndexPlan&, Nodes& nodes, const LowerOptions&) { FirstIteration(nodes); }},
    {"prefetch-results", Policy::kPrefetchResults, true, Replace<PrefetchResults>},
    {"prefetch-panels", Policy::kPrefetchPanels, true, Replace<PrefetchPanels>},
    {"guards", Policy::kGuards, false, Replace<Guards>},
    {"prefetch-streams", Policy::kPrefetchStreams, true, Replace<PrefetchStreams>},
    {"prefetch-nests", Policy::kPrefetchNests, true, Replace<PrefetchNests>},
    {"stream-stores", Policy::kNonTemporalStores, false, Replace<StreamStores>},
    {"transposed-stores", Policy::kTransposedStores, false,
     [](const Program& p, const IndexPlan& indices, Nodes& nodes, const LowerOptions&) {
       nodes = TransposedStores(p, indices, nodes);
     }},
};

}  // namespace

absl::Span<const Pass> Passes() { return kPasses; }

Planned PlanLoops(const Program& program, const LowerOptions& options, AfterPass after) {
  Planned made{program, {}};
  Program& p = made.program;
  const std::unordered_map<Id, std::string> calls = CallsOf(p, options.policies);
  MakeAxesSerial(p);
  InlineNestedBlocks(p);
  after("inline-nested-blocks", [&] { return ToString(p); });
  DecomposeReductions(p);
  after("decompose-reductions", [&] { return ToString(p); });
  IndexPlan indices =
      PlanIndices(p, {.drops_terms = options.policies.Has(Policy::kDroppableTerms), .rings = false});
  after("plan-indices", [&] { return ToString(p, indices); });
  if (options.policies.Has(Policy::kShortLoops))
    UnrollShortLoops(p, indices, options.vector_bytes, options.costs);
  after("unroll-short-loops", [&] { return ToString(p); });
  if (options.policies.Has(Policy::kShareStorage)) ShareStorage(p, indices);
  after("share-storage", [&] { return ToString(p, indices); });
  made.plan = Build(p, std::move(indices), calls);
  MakePipelinesSerial(p);
  after("build", [&] { return ToString(p, made.plan); });
  for (const Pass& pass : Passes()) {
    if (!options.policies.Has(pass.policy) || (pass.prefetches && options.stream_bytes <= 0)) continue;
    for (Entry& entry : made.plan.entries) pass.apply(p, made.plan.indices, entry.nodes, options);
    after(pass.name, [&] { return ToString(p, made.plan); });
  }
  return made;
}

Planned PlanLoops(const Program& program, const LowerOptions& options) {
  return PlanLoops(program, options, [](absl::string_view, absl::FunctionRef<std::string()>) {});
}

}  // namespace kiln::plan
