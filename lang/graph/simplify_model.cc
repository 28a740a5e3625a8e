#include "lang/graph/simplify_model.h"

#include "absl/algorithm/container.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/fold_affine.h"
#include "lang/graph/join_siblings.h"
#include "lang/graph/one_form.h"
#include "lang/graph/views.h"
#include "lang/schedule/inline_block.h"

namespace kiln {
namespace {

constexpr int64_t kViewAlignment = 64;  // bytes, as of everything in an arena (lang/model/model_plan.h)

bool HasGivenConstants(const Program& p) {
  return absl::c_any_of(p.parameters, [&](Id b) { return p.buffers[b].role == Role::kConstant; });
}

// True if the block stores a number, or elements of a constant in their order: a reshape or a broadcast.
bool RepeatsAConstant(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.values.count != 1) return false;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  if (value.op == Op::kLoad)
    return p.buffers[value.AsLoad().buffer].role == Role::kConstant && KeepsOrder(p, block);
  return value.op == Op::kConstant;
}

void InlineRepeatedConstants(Program& p) {
  for (const Id block : Blocks(p)) {
    if (RepeatsAConstant(p, block)) InlineBlock(p, block).IgnoreError();
  }
}

}  // namespace

ModelSimplifications SimplifyModel(Program& model, const Policies& policies) {
  ModelSimplifications done;
  if (!HasGivenConstants(model)) return done;
  done.applied = true;
  InlineRepeatedConstants(model);
  BringToOneForm(model);
  if (policies.Has(kFoldAffine)) done.folded = FoldAffine(model);
  done.joined = JoinSiblings(model);
  MarkViews(model, kViewAlignment);
  return done;
}

}  // namespace kiln
