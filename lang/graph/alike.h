// Compares blocks of a model that may become one, such as products of one operand with several constants.
#pragma once

#include "absl/functional/function_ref.h"
#include "lang/program/program.h"

namespace kiln {

// True if the block runs over a box of instances and writes one result, which is a temporary that nothing else writes.
bool IsSimple(const Program& program, Id block);
// IsSimpleSum is true for a simple block that sums, with or without initial values, and does not continue a sum. IsSimpleStore
// is true for a simple block without a monoid.
bool IsSimpleSum(const Program& program, Id block);
bool IsSimpleStore(const Program& program, Id block);

// Return the buffer that a simple block writes, and the index at which it does.
Id ResultOf(const Program& program, Id block);
Range ResultIndex(const Program& program, Id block);

bool SameIndex(const Program& program, Range a, Range b);

// What may differ between two expressions: loads for which `load` returns true count as the same. A guard counts as the
// same if its marks are, and if `guard` returns true for them.
struct MayDiffer {
  absl::FunctionRef<bool(const Expr& a, const Expr& b)> load;
  absl::FunctionRef<bool(Range marks)> guard;
};
// True if both expressions compute the same, apart from what may differ.
bool SameExpr(const Program& program, Id a, Id b, const MayDiffer& may_differ);

}  // namespace kiln
