// Brings an imported model to a simpler form before it is cut into tasks (lang/graph/outline.h).
//
//   auto model = ImportFile(path, {.inputs = {"1"}});
//   const ModelSimplifications done = SimplifyModel(model->program, policies);
//   auto tasks = ExtractTasks(model->program, policies);
//
// It writes equal computations in one form (lang/graph/one_form.h). This changes no bit, except with the policy
// "assume-numbers": then NaN may be treated in another way, and zeros may have another sign. Three policies change
// more:
// - "narrow-variances": variances of f32 values that the file computes in f64 are computed in f32
//   (lang/graph/narrow_variances.h)
// - "channels-last": channels become the last dimension of temporaries (lang/graph/channels_last.h)
// - "fold-affine": scales and shifts are folded into weights (lang/graph/fold_affine.h, lang/graph/fold_before.h)
// And always:
// - blocks that only reshape or repeat a constant, as a broadcast does, are inlined into their readers
// - products of one operand with several constants are joined where an estimate says that it pays
//   (lang/graph/join_siblings.h), and so are products of several rows of an operand with the same constants
//   (lang/graph/join_rows.h)
// - concatenations are rewritten so that their parts can lie in them, and copies that then move no data are marked
//   (lang/graph/views.h)
// New constants, such as folded or joined weights, are computed once, when constants are prepared.
//
// Parameters stay as they are. If the caller passes no constants to the model, it is left alone, and its tasks are
// those of the file.
#pragma once

#include "lang/program/program.h"
#include "lang/target/policies.h"

namespace kiln {

struct ModelSimplifications {
  bool applied = false;  // false if the model was left alone
  int folded = 0;        // sums whose scale or shift was folded
  int narrowed = 0;      // variances that are taken in f32
  int assumed = 0;   // expressions that give other results for NaN and zeros of another sign (assume-numbers)
  int permuted = 0;  // temporaries that have channels last now, and did not before
  int joined = 0;    // sums that were joined into others
};

// Simplifies the model and returns what changed. Safe from any thread.
ModelSimplifications SimplifyModel(Program& model, const Policies& policies = {});

}  // namespace kiln
