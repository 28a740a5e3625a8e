// Draws random steps of schedules for tests: primitives of any kind, with operands that are often legal. Steps are
// drawn from the declarations of the primitives, so new primitives are included automatically.
#pragma once

#include "lang/schedule/primitive.h"

namespace kiln {

// Replaces the handles of the state by new ones for all blocks and loops of its program, in program order.
void RefreshHandles(State& state);

// Draws a step on blocks and loops that exist in the state. The step need not apply. `before` are the earlier steps.
// The step often uses values that they sampled. With `sampling`, sampling steps are drawn too, and seldom steps that
// only look up handles. The number of earlier steps names the site of a sampling step. Primitives in `favored` are
// drawn more often.
Step RandomStep(const State& state, absl::Span<const Step> before, bool sampling, Dice& dice,
                absl::Span<const Primitive* const> favored = {});

// Draws `tries` random steps, and applies those that are legal to the state, except `bind`. Draws no sampling steps and
// no steps that only look up handles.
void TryRandomSteps(State& state, int tries, Dice& dice);

}  // namespace kiln
