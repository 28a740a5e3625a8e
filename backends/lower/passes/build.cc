#include "backends/lower/passes/build.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/lower/passes/plan_indices.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"

namespace kiln::plan {
namespace {

// True if a block reduces over the vectorized loop and also stores to different elements in its iterations. Such lanes
// can be combined neither in order nor by a tree, so the loop must be unrolled instead.
bool ReducesToSeveral(const Program& p, Id loop) {
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  return std::any_of(blocks.begin(), blocks.end(), [&](Id block) {
    const LoopUse use = UseOf(p, block, loop);
    return p.block(block).monoid != kNone && use.spatial && use.reduction;
  });
}

class Builder {
 public:
  Builder(const Program& program, const IndexPlan& indices, const std::unordered_map<Id, std::string>& calls)
      : p_(program), indices_(indices), calls_(calls) {}

  Nodes Children(Id node, bool prepare) {
    Nodes nodes;
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
      if (node == kRoot && p_.nodes[child].prepare != prepare) continue;
      nodes.push_back(p_.IsLoop(child) ? LoopOrCall(child) : Block(child));
    }
    return nodes;
  }

 private:
  Node LoopOrCall(Id loop) {
    const auto call = calls_.find(loop);
    if (call == calls_.end()) return LoopNode(loop);
    return {Call{call->second, loop}, {{LoopNode(loop)}}};
  }

  Node LoopNode(Id id) {
    const kiln::LoopNode& loop = p_.loop(id);
    const int64_t extent = loop.extent.Known();
    Loop made{.loop = id, .run = Run::kSerial, .count = extent};
    Nodes body = Children(id, false);
    if (extent == 1) {
      made.run = Run::kOne;
    } else if (IsBlockAxis(loop.kind) || IsThreadAxis(loop.kind)) {
      made.run = Run::kAxis;
      made.axis = loop.kind;
    } else if (loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVirtualThread) {
      made.run = Run::kUnrolled;
    } else if (loop.kind == LoopKind::kVectorized) {
      made.run = ReducesToSeveral(p_, id) ? Run::kUnrolled : Run::kLanes;
      if (made.run == Run::kLanes) made.lanes = extent;
    } else if (RunsOnThreads(p_, id)) {
      made.run = Run::kThreads;
    } else if (const int64_t steps = AnnotationOf(p_, loop.annotations, kUnrolledSteps);
               steps > 1 && extent % steps == 0 && loop.kind == LoopKind::kSerial) {
      made.steps = steps;
      made.count = KILN_DEFECT("plan.build.steps") ? 1 : extent / steps;
      body = {{Loop{.loop = id, .run = Run::kUnrolled, .count = steps}, {std::move(body)}}};
    }
    return {made, {std::move(body)}};
  }

  // Returns the plan's node for a block: a leaf. A reduction without initialization gets two leaves: one that stores
  // the first term, where its reduction loops are at 0, and one that combines. It gets only the first of them if no
  // reduction loop has several iterations. Here, loops on thread axes of a GPU are no reduction loops, since their
  // threads combine their values.
  Node Block(Id id) {
    KILN_CHECK(p_.nodes[id].first == kNone, "a block inside a block");
    const BlockNode& block = p_.block(id);
    const BlockPlan& plan = indices_.blocks.at(id);
    Leaf leaf{.block = id, .asks = plan.guards, .fast = AnnotationOf(p_, block.annotations, kFastMath) != 0};
    const auto is_axis = [&](Id loop) {
      return IsThreadAxis(p_.loop(loop).kind) && p_.loop(loop).extent.Known() > 1;
    };
    leaf.across = block.monoid != kNone && absl::c_any_of(plan.reduction_loops, is_axis);
    if (block.monoid == kNone || block.accumulates) return {leaf};
    Leaf starts = leaf, combines = leaf;
    starts.starts = !KILN_DEFECT("plan.build.starts");
    combines.starts = false;
    First first;  // a loop of one iteration is at 0 wherever the test stands
    absl::c_copy_if(plan.reduction_loops, std::back_inserter(first.loops),
                    [&](Id loop) { return p_.loop(loop).extent.Known() > 1 && !is_axis(loop); });
    if (first.loops.empty()) return {starts};
    return {std::move(first), {{{starts}}, {{combines}}}};
  }

  const Program& p_;
  const IndexPlan& indices_;
  const std::unordered_map<Id, std::string>& calls_;
};

}  // namespace

std::vector<std::string> EntryNames(const Program& program) {
  for (Id child = program.nodes[kRoot].first; child != kNone; child = program.nodes[child].next) {
    if (program.nodes[child].prepare) return {program.name, absl::StrCat(program.name, "_prepare")};
  }
  return {program.name};
}

LoopPlan Build(const Program& program, IndexPlan indices, const std::unordered_map<Id, std::string>& calls) {
  LoopPlan made{std::move(indices), {}};
  Builder builder(program, made.indices, calls);
  for (const std::string& name : EntryNames(program)) {
    const bool prepare = !made.entries.empty();
    made.entries.push_back({name, prepare, builder.Children(kRoot, prepare)});
  }
  return made;
}

}  // namespace kiln::plan
