// Draws random steps of schedules for tests: any declared primitive, with operands that are often legal. Steps are
// drawn from the declarations of the primitives, so new primitives are included automatically.
#pragma once

#include "lang/schedule/primitive.h"

namespace kiln {

// Replaces the handles of the state by new ones for all blocks and loops of its program, in program order.
void RefreshHandles(State& state);

// Draws a step on blocks and loops that exist in the state. `before` are the earlier steps; the step often uses values
// that they sampled. With `sampling`, sampling steps are drawn too, and the number of earlier steps names their site.
// Primitives in `favored` are drawn more often.
Step RandomStep(const State& state, absl::Span<const Step> before, bool sampling, Dice& dice,
                absl::Span<const Primitive* const> favored = {});

// Draws `tries` random steps of all primitives but sampling steps and `bind`, and applies those that are legal to the
// state.
void TryRandomSteps(State& state, int tries, Dice& dice);

}  // namespace kiln
