// Random expressions of one type, as elementwise blocks of random programs compute them: small graphs of
// sums, products, extremes, selections and, of integers, bits, casts, shifts and divisions, signed and
// unsigned. Values are used again, so that operands are shared. Floats stay small whole numbers, zeros of
// either sign among them.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "lang/base/random.h"
#include "lang/program/builder.h"

namespace kiln {

// Of `values` (at least one, all of `type`). `input` loads from an input that nothing else reads: a divisor
// or an amount of a shift, whose data are then drawn where the program is defined.
Id RandomBody(Builder& b, Dice& dice, DType type, std::vector<Id> values, absl::FunctionRef<Id()> input);

}  // namespace kiln
