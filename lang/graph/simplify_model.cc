#include "lang/graph/simplify_model.h"

#include "lang/graph/channels_last.h"
#include "lang/graph/fold_affine.h"
#include "lang/graph/fold_before.h"
#include "lang/graph/join_rows.h"
#include "lang/graph/join_siblings.h"
#include "lang/graph/narrow_variances.h"
#include "lang/graph/one_form.h"
#include "lang/graph/outline.h"
#include "lang/graph/views.h"

namespace kiln {
namespace {

constexpr int64_t kViewAlignment = 64;  // bytes, as of everything in an arena (lang/model/model_plan.h)

}  // namespace

ModelSimplifications SimplifyModel(Program& model, const Policies& policies) {
  ModelSimplifications done;
  if (!HasGivenConstants(model)) return done;
  done.applied = true;
  InlineRepeatedConstants(model);
  if (policies.Has(Policy::kNarrowVariances)) done.narrowed = NarrowVariances(model);
  done.assumed = BringToOneForm(model, policies.Has(Policy::kAssumeNumbers));
  if (policies.Has(Policy::kChannelsLast)) done.permuted = ChannelsLast(model);
  if (done.permuted > 0) done.assumed += BringToOneForm(model, policies.Has(Policy::kAssumeNumbers));
  if (policies.Has(Policy::kFoldAffine)) {
    done.folded = FoldAffine(model);
    done.folded += FoldBefore(model);
    FoldAffine(model);  // moves the start values that FoldBefore adds
  }
  done.joined = JoinSiblings(model) + JoinRows(model);
  MarkViews(model, kViewAlignment);
  return done;
}

}  // namespace kiln
