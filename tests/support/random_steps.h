// Random steps for tests: any declared primitive, with operands that often make sense.
#pragma once

#include "lang/primitive.h"

namespace kiln {

// Lets the state's handles stand for its live blocks and loops, in program order.
void RefreshHandles(State& state);

// A step of any primitive that changes programs, on the handles of the state.
Step RandomStep(const State& state, Dice& dice);

}  // namespace kiln
