// Estimates the cycles of a row with a roofline. Inside the core, the slowest of arithmetic, loads, stores
// and instruction issue decides. The time to fetch bytes from beyond each cache partly overlaps with it.
// The roofline ignores the order of instructions and conflicts of addresses; the cost model learns their
// effect.
#pragma once

#include "absl/types/span.h"
#include "lang/target/target.h"

namespace kiln {

// Fills the columns roofline.* of a row, except roofline.program. All other columns must be filled.
void FillRoofline(const Target& target, float* row);

// Fills roofline.program in all rows of a program.
void FillProgramCycles(absl::Span<float> rows);

}  // namespace kiln
