// Draws random steps for tests: any declared primitive, with operands that are often legal. Only the
// declarations decide what is drawn, so new primitives are included automatically.
#pragma once

#include "lang/schedule/primitive.h"

namespace kiln {

// Replaces the state's handles by its live blocks and loops, in program order.
void RefreshHandles(State& state);

// Draws a step on live handles of the state. `before` are the steps so far; values that they sampled are
// often used. With `sampling`, sampling steps are drawn too; the number of steps so far names their site.
// Primitives in `favored` are drawn more often.
Step RandomStep(const State& state, absl::Span<const Step> before, bool sampling, Dice& dice,
                absl::Span<const Primitive* const> favored = {});

// Tries `tries` random steps, without sampling steps and machine axes.
void TryRandomSteps(State& state, int tries, Dice& dice);

}  // namespace kiln
