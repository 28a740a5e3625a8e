// Brings an imported model to a simpler form before it is cut into tasks (lang/graph/outline.h).
//
//   auto model = ImportFile(path, {.inputs = {"1"}});
//   const ModelSimplifications done = SimplifyModel(model->program, policies);
//   auto tasks = ExtractTasks(model->program, policies);
//
// It brings layers to one form (lang/graph/one_form.h; with the policy "assume-numbers" for all numbers, without it for
// NaN and signs of zeros too). It takes variances in f32 (lang/graph/narrow_variances.h, policy "narrow-variances"). With
// the policy "channels-last", channels become the last dimension of temporaries (lang/graph/channels_last.h). And it
// moves work on constants to where it runs once, when the constants are prepared:
// - blocks that only reshape or repeat a constant, as a broadcast does, are inlined where they are read
// - scales and shifts are folded into weights (lang/graph/fold_affine.h, lang/graph/fold_before.h), with the policy
//   "fold-affine"
// - products of one operand become one where that gains (lang/graph/join_siblings.h), and so do products of rows of an
//   operand with the same constants (lang/graph/join_rows.h)
// - what a concatenation puts together is written in its place (lang/graph/views.h)
//
// Parameters stay as they are. A model without constants that the caller gives is left alone, so that its tasks are
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
