// Random steps for tests: any declared primitive, with operands that often make sense. What is drawn follows
// from the declarations alone, so that a new primitive is drawn too.
#pragma once

#include "lang/schedule/primitive.h"

namespace kiln {

// Lets the state's handles stand for its live blocks and loops, in program order.
void RefreshHandles(State& state);

// A step on live handles of the state. `before`: the steps that led there; what they drew is often used. A
// sampling step (drawn only if `sampling`) has a site called after their number.
// Those that are favored are drawn more often.
Step RandomStep(const State& state, absl::Span<const Step> before, bool sampling, Dice& dice,
                absl::Span<const Primitive* const> favored = {});

}  // namespace kiln
