// Makes random expressions of one type for elementwise blocks of random programs: small graphs of sums, products,
// extremes and selects, and for integers also bit operations, casts, shifts and divisions, signed and unsigned. Values
// are reused, so that operands are shared. Floats stay small whole numbers, including zeros of either sign.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "lang/base/random.h"
#include "lang/program/builder.h"

namespace kiln {

// Returns a random expression of some of `values` (at least one, all of `type`). `input` must return a load from an
// input that nothing else reads. The load becomes a divisor or a shift amount; RandomInputs (random_program.h) then
// draws its data such that the program is defined.
Id RandomBody(Builder& b, Dice& dice, DType type, std::vector<Id> values, absl::FunctionRef<Id()> input);

}  // namespace kiln
