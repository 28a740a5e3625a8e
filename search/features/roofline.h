// How long a row takes by a roofline: the longest of what its arithmetic, its loads, its stores and the front
// end need when each is busy, and the time in which bytes come from beyond each cache, some of which passes
// at the same time. What it does not know (the order of instructions, addresses that collide) is for the cost
// model.
#pragma once

#include "absl/types/span.h"
#include "lang/target/target.h"

namespace kiln {

// Fills the columns roofline.* of a row whose other columns are filled, but roofline.program.
void FillRoofline(const Target& target, float* row);

// Fills roofline.program of all rows of a program.
void FillProgramCycles(absl::Span<float> rows);

}  // namespace kiln
